"""What visitors look at a site with."""

from pig_util import outputSchema


@outputSchema("device: chararray")
def device(agent):
    """`phone`, `robot` or `computer`, by what a browser calls itself."""
    if agent is None:
        return None
    told = agent.lower()
    if "bot" in told or "spider" in told:
        return "robot"
    return "phone" if "iphone" in told or "android" in told else "computer"
