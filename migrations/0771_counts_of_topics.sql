-- How many projects of a topic may be known: to everybody, and to users of the server besides external ones.
alter table topics add public_projects_count bigint not null default 0, add shown_projects_count bigint not null default 0;
create index topics_by_public_projects on topics (public_projects_count desc, id);
create index topics_by_shown_projects on topics (shown_projects_count desc, id);

update topics
   set (public_projects_count, shown_projects_count) = (
         select count(*) filter (where visibility = 'public'), count(*) filter (where visibility <> 'private')
           from projects where projects.topics @> array[topics.name::text])
 where total_projects_count > 0;

create or replace function keep_topics() returns trigger language plpgsql as $$
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
    select id, (name = any(before))::integer as was, (name = any(after))::integer as is_now from topics
     where name = any(before || after) order by id for no key update)
  update topics
     set total_projects_count  = total_projects_count  + is_now - was,
         public_projects_count = public_projects_count + case when new.visibility = 'public'   then is_now else 0 end
                                                       - case when old.visibility = 'public'   then was    else 0 end,
         shown_projects_count  = shown_projects_count  + case when new.visibility <> 'private' then is_now else 0 end
                                                       - case when old.visibility <> 'private' then was    else 0 end
    from changed
   where changed.id = topics.id and (is_now <> was or new.visibility <> old.visibility);
  return case when tg_op = 'DELETE' then old else new end;
end $$;
drop trigger keep_topics_of_changed on projects;
create trigger keep_topics_of_changed before update of topics, visibility on projects
  for each row when (old.topics <> new.topics or (old.visibility <> new.visibility and new.topics <> '{}')) execute function keep_topics();
