"""The page of an audit: one HTML file that needs no network, with pictures in it or beside it."""

from mentornet.audit.page.contents import Contents, Curve, Fact, Pictures, SampleTable, Surface
from mentornet.audit.page.writing import write_page

__all__ = ["Contents", "Curve", "Fact", "Pictures", "SampleTable", "Surface", "write_page"]
