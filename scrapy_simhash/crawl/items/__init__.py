"""Items that repeat others: the arrows of the pages once more, for chosen fields, with a store of their own."""
