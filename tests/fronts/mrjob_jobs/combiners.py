"""Combiners that mrjob allows and a tree of combined results does not."""

from mrjob.job import MRJob


class Combiners(MRJob):
    def configure_args(self):
        super().configure_args()
        self.add_passthru_arg("--kind")

    def mapper(self, _, line):
        for word in line.split():
            yield word, 1.5 if self.options.kind == "floats" else 2

    def combiner(self, word, values):
        values = list(values)
        if self.options.kind == "other keys":
            yield word.upper(), sum(values)
        elif self.options.kind == "other values":
            yield word, {"sum": sum(values), "count": len(values)}
        elif self.options.kind == "counts":
            yield word, len(values)
        else:
            yield word, sum(values)

    def reducer(self, word, values):
        if self.options.kind == "other values":
            values = list(values)
            yield word, sum(each["sum"] for each in values) / sum(each["count"] for each in values)
        else:
            yield word, sum(values)


if __name__ == "__main__":
    Combiners.run()
