/** Shares the large files of commits that come from another project (docs/reference/merge_requests.md#large-files). */
import { sql } from 'kysely';
import { type Database, ofAnyLength } from '../../../db/index.ts';
import { newBlobs, type Repository } from '../../../git/index.ts';
import { pointerIn, pointerLimit_bytes } from './rules.ts';

/** As for a push: the limits on the number of small files searched for pointers, and on the time. */
const searched = 20_000;
const maximumSearch_ms = 10_000;

interface Link {
  from_project_id: number;
  project_id: number;
  /** The repository of `project_id`, which has the commit. */
  repository: Repository;
  commit_id: string;
}

/** Whether one project has large files that another lacks. Most projects have none. */
async function hasMore(db: Database, { from_project_id, project_id }: Link): Promise<boolean> {
  const { rows } = await sql<{ has_more: boolean }>`
    select exists (select from lfs_objects_projects theirs where theirs.project_id = ${from_project_id}
                      and not exists (select from lfs_objects_projects ours
                                       where ours.project_id = ${project_id} and ours.lfs_object_id = theirs.lfs_object_id)) as has_more`.execute(
    db,
  );
  return rows[0]!.has_more;
}

/**
 * Links the large files of one project to another if a commit refers to them and the target's branches and tags do not. Only objects of the source project are linked: a pointer
 * alone grants no access.
 */
export async function linkObjects(db: Database, link: Link): Promise<void> {
  if (link.from_project_id === link.project_id || !(await hasMore(db, link))) return;
  const contents = await newBlobs(link.repository, {
    targets: [link.commit_id],
    env: {},
    smaller_than_bytes: pointerLimit_bytes,
    limit: searched,
    timeout_ms: maximumSearch_ms,
  });
  const oids = [...new Set(contents.flatMap((content) => pointerIn(content)?.oid ?? []))];
  if (oids.length === 0) return;
  await sql`
    insert into lfs_objects_projects (project_id, lfs_object_id)
    select ${link.project_id}, lfs_objects.id
      from lfs_objects join lfs_objects_projects theirs on theirs.lfs_object_id = lfs_objects.id and theirs.project_id = ${link.from_project_id}
     where lfs_objects.oid = any(${ofAnyLength(oids, 'text[]')})
    on conflict do nothing`.execute(db);
}
