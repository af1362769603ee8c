/** A forge full of projects and users: a tree of groups, a group of 5,000 projects, one with a quarter of all users, and namespaces of users. */
import { fill } from './fill.ts';
import { type Instance, token } from './instance.ts';

/** Of a user who is a member of the group of 5,000 projects, and of one who is a member of little. */
export const tokens = { admin: token, gardener: 'bench-token-of-the-gardener', walker: 'bench-token-of-a-walker' };

export interface Forest {
  projects: number;
  users: number;
  /** Subgroups below `forest`, in two layers. */
  subgroups: number;
  /** The big group, a group with projects of its own only, and one with many members. */
  forest: number;
  orchard: number;
  crowd: number;
  /** A project of the crowd. */
  crowded: number;
}

/** How many projects the orchard has, in a small and a large database alike. */
const orchardProjects = 5000;
const crowdProjects = 10;
const filled = [
  'projects',
  'namespaces',
  'users',
  'emails',
  'members',
  'project_authorizations',
  'group_authorizations',
  'topics',
];

/** Every seventh project is called a service, and as many have one in the description. */
const projectRows = ({ projects, users, subgroups, orchard, crowd }: Omit<Forest, 'crowded'>) => `
  create temporary table drafts on commit drop as
    select n, case when n % ${projects / orchardProjects} = 0 then ${orchard}
                   when n <= ${crowdProjects * 5} and n % 5 = 1 then ${crowd}
                   when n % 4 = 1 then (select min(id) from walkers) + abs(hashint8(n)) % ${users}
                   else (select min(id) from groves) + abs(hashint8(n + 5)) % ${subgroups} end as namespace_id,
           case when n % 7 = 1 then 'service' else first.word end || '-' || second.word || '-' || n as path
      from generate_series(1, ${projects}) n
      join vocabulary first on first.number = abs(hashint8(n)) % 500 join vocabulary second on second.number = abs(hashint8(-n)) % 500;
  insert into projects (namespace_id, name, path, full_path, description, visibility, creator_id, default_branch, topics, star_count,
                        last_activity_at, created_at, updated_at)
    select places.id, initcap(replace(drafts.path, '-', ' ')), drafts.path, places.full_path || '/' || drafts.path,
           case when n % 2 = 0 then 'Keeps the ' || split_part(drafts.path, '-', 2) || case when n % 14 = 2 then ' service' else '' end || ' of tree ' || n end,
           case places.kind when 'group' then places.visibility else (array['public', 'internal', 'private', 'private'])[1 + n / 4 % 4] end,
           (select min(user_id) from walkers) + n % ${users}, 'main',
           case when n % 3 = 0 then array['topic-' || n % 50] else '{}' end, abs(hashint8(n)) % 100,
           now() - interval '1 minute' * (abs(hashint8(n + 7)) % 1000000), now() - interval '1 minute' * (${projects} - n),
           now() - interval '1 minute' * (abs(hashint8(n + 9)) % 1000000)
      from drafts join namespaces places on places.id = namespace_id order by n;
  insert into topics (name, title, total_projects_count)
    select topic, topic, count(*) from projects, unnest(topics) topic group by topic;`;

/** As `refreshAuthorizations` would, at once: nobody has a membership that ends, a role or a link. */
const authorizationRows = `
  delete from group_authorizations;
  delete from project_authorizations;
  insert into group_authorizations (user_id, group_id, access_level)
    select user_id, namespaces.id, max(access_level) from namespaces join members on members.group_id = any(traversal_ids)
     where kind = 'group' group by 1, 2;
  insert into project_authorizations (user_id, project_id, access_level)
    select user_id, project_id, max(access_level)
      from (select user_id, projects.id as project_id, access_level from projects join group_authorizations on group_id = namespace_id
            union all select user_id, project_id, access_level from members where project_id is not null
            union all select owner_id, projects.id, 50 from projects join namespaces on namespaces.id = namespace_id where kind = 'user') granted
     group by 1, 2;`;

function statements(forest: Omit<Forest, 'crowded'>): string {
  const branches = forest.subgroups / 10;
  return `
  create temporary table vocabulary on commit drop as
    select number, translate(left(md5(number::text), 4 + number % 5), '0123456789', 'ghijklmnop') as word from generate_series(0, 499) number;
  create temporary table walkers on commit drop as
    select n, (select max(id) from namespaces) + n as id, (select max(id) from users) + n as user_id, 'walker-' || n as username,
           initcap((select word from vocabulary where number = n % 500)) || ' Walker ' || n as name from generate_series(1, ${forest.users}) n;
  insert into users (id, username, name, email, confirmed_at, created_at) overriding system value
    select user_id, username, name, username || '@example.com', now(), now() - interval '1 minute' * (${forest.users} - n) from walkers;
  insert into emails (user_id, email, is_primary, confirmed_at) select user_id, username || '@example.com', true, now() from walkers;
  insert into namespaces (id, kind, name, path, full_path, traversal_ids, owner_id, visibility) overriding system value
    select id, 'user', name, username, username, array[id], user_id, 'public' from walkers;

  create temporary table groves on commit drop as
    select n, (select max(id) from namespaces) + n as id from generate_series(1, ${forest.subgroups}) n;
  create temporary table layers on commit drop as
    select groves.n, groves.id, branch.id as branch_id
      from groves left join groves branch on branch.n = 1 + groves.n % ${branches} and groves.n > ${branches};
  insert into namespaces (id, kind, name, path, full_path, traversal_ids, parent_id, visibility) overriding system value
    select id, 'group', 'Grove ' || n, 'grove-' || n, 'forest/' || case when branch_id is null then '' else 'grove-' || (1 + n % ${branches}) || '/' end || 'grove-' || n,
           array_remove(array[${forest.forest}, branch_id, id], null), coalesce(branch_id, ${forest.forest}),
           case when branch_id is null then 'public' else (array['public', 'internal', 'private', 'private'])[1 + n % 4] end
      from layers;
  ${projectRows(forest)}

  insert into members (user_id, group_id, access_level) select user_id, ${forest.crowd}, 30 from walkers where n % 4 = 0;
  insert into members (user_id, group_id, access_level) select user_id, ${forest.orchard}, 30 from walkers where n = 1;
  insert into members (user_id, group_id, access_level)
    select distinct walkers.user_id, groves.id, 30 from groves, generate_series(1, 3) drawn
      join walkers on true where walkers.n = 2 + abs(hashint8(groves.n * 3 + drawn)) % (${forest.users} - 2);
  ${authorizationRows}
  insert into personal_access_tokens (user_id, name, scopes, token_digest)
    select user_id, 'bench', array['api'], sha256(convert_to(case n when 1 then '${tokens.gardener}' else '${tokens.walker}' end, 'UTF8'))
      from walkers where n <= 2;
  select setval(pg_get_serial_sequence('users', 'id'), max(id)) from users;
  select setval(pg_get_serial_sequence('namespaces', 'id'), max(id)) from namespaces;`;
}

/** Fills a fresh instance. */
export async function seedForest(instance: Instance, projects: number, users: number): Promise<Forest> {
  const group = async (path: string, visibility: string) =>
    (await instance.api.post('/groups', { name: path, path, visibility })).body.id as number;
  const [forest, orchard, crowd] = [
    await group('forest', 'public'),
    await group('orchard', 'private'),
    await group('crowd', 'internal'),
  ];
  const planned = { projects, users, subgroups: projects / 100, forest, orchard, crowd };
  await fill(instance, filled, statements(planned));
  const { body } = await instance.api.get(`/groups/${crowd}/projects`);
  return { ...planned, crowded: body[0].id };
}
