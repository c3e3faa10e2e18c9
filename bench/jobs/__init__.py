"""Jobs as users write them: no future imports, no annotations, nothing of this project but `import incoop`."""
