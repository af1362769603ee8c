-- For lists of issues and merge requests by the tag of a release, across projects.
create index releases_tag_idx on releases (tag, project_id);
