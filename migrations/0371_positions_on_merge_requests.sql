alter table notes
  -- The position that a note on a merge request was given; `position` follows the code.
  add column original_position jsonb,
  -- The commit of a merge request whose own diff the position is in; null for the diff of a version.
  add column diff_commit_id text check (diff_commit_id ~ '^([0-9a-f]{40}|[0-9a-f]{64})$');
