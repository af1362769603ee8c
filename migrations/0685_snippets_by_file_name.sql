-- outside a transaction
-- Searches find snippets by the name of their first file, too.
drop index concurrently if exists snippets_file_search;
create index concurrently snippets_file_search on snippets using gin ((paths[1]) gin_trgm_ops);
