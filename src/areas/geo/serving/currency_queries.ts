/** Whether the copy of a repository is current. */
import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../../../db/index.ts';
import type { NamedRepository } from './passing_rules.ts';

const isId = (text: string) => /^\d{1,15}$/.test(text);

const projectId = (owner: string) =>
  isId(owner) ? sql`select ${owner}::bigint` : sql`select id from projects where full_path = ${owner}::citext`;

const groupId = (owner: string) =>
  isId(owner) ? sql`select ${owner}::bigint` : sql`select id from namespaces where full_path = ${owner}::citext`;

/** The names of replicables, and the ids of their records; the path of a wiki is that of a project or of a group. */
function replicasOf({ of, owner }: NamedRepository): RawBuilder<unknown> {
  switch (of) {
    case 'project':
      return sql`select 'project_repositories', id::text from (${projectId(owner)}) project(id)`;
    case 'snippet':
      return sql`select 'snippet_repositories', ${owner}`;
    case 'project_wiki':
      return sql`
        select 'project_wiki_repositories', id::text from wikis where project_id = (${projectId(owner)})
        union all select 'group_wiki_repositories', id::text from wikis where group_id = (${groupId(owner)}) and ${!isId(owner)}`;
    case 'group_wiki':
      return sql`select 'group_wiki_repositories', id::text from wikis where group_id = (${groupId(owner)})`;
  }
}

/**
 * Whether this secondary has the repository in the state of the primary, up to the last event received. A repository
 * that does not exist is current.
 */
export async function isCurrent(db: Database, repository: NamedRepository): Promise<boolean> {
  const { rows } = await sql<{ is_current: boolean }>`
    select coalesce(bool_and(coalesce(state = 'synced', false)), true) as is_current
      from (${replicasOf(repository)}) named(replicable, record)
      left join geo_replicas replicas on replicas.replicable = named.replicable and replicas.record = named.record`.execute(
    db,
  );
  return rows[0]!.is_current;
}
