-- Releases of deleted users go to the ghost user, as other contributions do.
alter table releases drop constraint releases_author_id_fkey, add constraint releases_author_id_fkey foreign key (author_id) references users (id);
