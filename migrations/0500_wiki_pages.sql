-- Pages of wikis that something has happened to, as events name them. A page that is renamed keeps its row, and one that is deleted keeps its title.
create table wiki_pages (
  id      bigint generated always as identity primary key,
  wiki_id bigint not null references wikis on delete cascade,
  slug    text not null,
  title   text not null,
  format  text not null,
  unique (wiki_id, slug)
);
