-- Texts of the code search index are in lower case; those of versions that stored them as they are were folded by a job.
update code_blobs set content = lower(content) where not is_folded;
alter table code_blobs drop column is_folded;
alter table issues drop column is_labelled, drop column is_assigned;
