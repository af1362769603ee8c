-- Finds the jobs that a runner may take by their tags, so that it does not read all others that wait. A list of tags can be too long for an index.
create function tags_digest(tags text[]) returns bytea language sql immutable parallel safe as $$
  select sha256(convert_to(tags::text, 'UTF8'))
$$;
create index commit_statuses_queue_by_tags on commit_statuses using btree (tags_digest(tags), project_id) where kind = 'job' and status = 'pending';
