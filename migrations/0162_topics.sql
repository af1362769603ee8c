-- Topics by which projects are found. Projects have their names in an array, spelled as here.
create table topics (
  id                   bigint generated always as identity primary key,
  name                 citext not null constraint topics_name_key unique,
  title                text not null,
  description          text,
  total_projects_count bigint not null default 0
);
create index topics_by_projects on topics (total_projects_count desc, id);
create index topics_search on topics using gin ((name::text) gin_trgm_ops, title gin_trgm_ops);

insert into topics (name, title)
select distinct on (given::citext) given, given from projects, unnest(topics) given order by given::citext, given;
update projects
   set topics = array(select name::text collate "C" from topics where name = any(projects.topics::citext[]) order by 1)
 where cardinality(topics) > 0;
update topics
   set total_projects_count = (select count(*) from projects where projects.topics @> array[topics.name::text])
 where true;

-- A topic that a project is given exists from then on, and each topic knows how many projects have it.
create function keep_topics() returns trigger language plpgsql as $$
declare
  before citext[] := case when tg_op = 'INSERT' then '{}' else old.topics::citext[] end;
  after  citext[] := '{}';
begin
  if tg_op <> 'DELETE' then
    insert into topics (name, title)
    select distinct on (given::citext) given, given from unnest(new.topics) given order by given::citext, given
        on conflict (name) do nothing;
    new.topics := array(select name::text collate "C" from topics where name = any(new.topics::citext[]) order by 1);
    after := new.topics::citext[];
  end if;
  -- In one order, so that two statements that change the same topics wait for each other.
  with changed as (
    select id, case when name = any(after) then 1 else -1 end as difference from topics
     where (name = any(before)) <> (name = any(after)) order by id for no key update)
  update topics set total_projects_count = total_projects_count + difference from changed where changed.id = topics.id;
  return case when tg_op = 'DELETE' then old else new end;
end $$;
create trigger keep_topics_of_new before insert on projects for each row when (new.topics <> '{}') execute function keep_topics();
create trigger keep_topics_of_changed before update of topics on projects
  for each row when (old.topics <> new.topics) execute function keep_topics();
create trigger keep_topics_of_deleted before delete on projects for each row when (old.topics <> '{}') execute function keep_topics();
