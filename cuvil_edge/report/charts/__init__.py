"""Charts as inline SVG. Colours come from CSS classes, so that they follow the page's light or dark scheme."""
