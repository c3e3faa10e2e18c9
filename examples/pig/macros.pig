-- The rows of a relation with the largest values of a column.
DEFINE most(rel, column, n) RETURNS best {
    sorted = ORDER $rel BY $column DESC, $0;
    $best = LIMIT sorted $n;
};
