-- What administrators have decided on features. One that has no row here is as its definition says.
create table features (
  name text primary key
);

-- Ways into a feature, each of which suffices; a feature without any is off.
create table feature_gates (
  feature_name text not null references features on delete cascade,
  key          text not null check (key in ('boolean', 'percentage_of_actors', 'percentage_of_time', 'actors', 'groups')),
  -- `true`, a percentage, an actor such as `User:5`, or the name of a group of actors.
  value        text not null,
  primary key (feature_name, key, value)
);
create unique index feature_gates_of_one_value on feature_gates (feature_name, key) where key in ('boolean', 'percentage_of_actors', 'percentage_of_time');

-- Whose members see experiments. Not the path: whoever takes a path that was given up must not become one of the team.
alter table application_settings add column team_group_id bigint references namespaces on delete set null;
