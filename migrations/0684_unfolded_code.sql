-- outside a transaction
drop index concurrently if exists code_blobs_unfolded;
create index concurrently code_blobs_unfolded on code_blobs (id) where not is_folded;
