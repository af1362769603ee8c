-- The sizes of repositories, as last measured, so that lists and sums start no git process per project.
create table repository_sizes (
  project_id bigint primary key references projects (id) on delete cascade,
  -- Of the default branch.
  commit_count bigint not null,
  -- On the disk.
  size_bytes bigint not null,
  -- Set by what moves references or the default branch; cleared by measuring again.
  is_stale boolean not null default false
);
