/** Queries for releases. */
import { type RawBuilder, sql } from 'kysely';
import { isVisibleIssue, levels, type MaybeCaller, mayReadCode, mayUse, type Project } from '../../../access/index.ts';
import { type Database, isAmong, momentInJson } from '../../../db/index.ts';
import { ApiError } from '../../../http/index.ts';
import { type UserBasicRow, userBasicJson } from '../../people/users/index.ts';
import type { LinkRow, ReleaseRights, ReleaseRow } from './present.ts';

const author = sql<UserBasicRow | null>`(select ${userBasicJson('users')} from users where users.id = releases.author_id)`;

const links = sql<LinkRow[]>`(
  select coalesce(json_agg(json_build_object('id', id, 'name', name, 'url', url, 'filepath', filepath, 'link_type', link_type) order by id desc), '[]')
    from release_links where release_id = releases.id)`;

const milestone_ids = sql<number[]>`(
  select coalesce(json_agg(milestone_id order by milestone_id), '[]') from release_milestones where release_id = releases.id)`;

const evidences = sql<ReleaseRow['evidences']>`(
  select coalesce(json_agg(json_build_object('id', id, 'sha', sha, 'collected_at', ${momentInJson('release_evidences.collected_at')}) order by id), '[]')
    from release_evidences where release_id = releases.id)`;

/** Releases with the columns for replies. */
export const releaseRows = (db: Database) =>
  db
    .selectFrom('releases')
    .innerJoin('projects', 'projects.id', 'releases.project_id')
    .select([
      'releases.id',
      'releases.project_id',
      'releases.tag',
      'releases.name',
      'releases.description',
      'releases.created_at',
      'releases.released_at',
      'projects.path',
      'projects.full_path',
      'projects.storage',
      sql<boolean>`releases.released_at > now()`.as('upcoming'),
      author.as('author'),
      links.as('links'),
      milestone_ids.as('milestone_ids'),
      evidences.as('evidences'),
    ]);

export const releasesOf = (db: Database, project_id: number) =>
  releaseRows(db).where('releases.project_id', '=', project_id);

/** The text of the public API, which differs from that of other rows in one letter. */
export const missingText = '404 Not Found';

/** @throws ApiError 404 */
export async function releaseNamed(db: Database, project_id: number, tag: string): Promise<ReleaseRow> {
  const row = await releasesOf(db, project_id).where('releases.tag', '=', tag).executeTakeFirst();
  if (!row) throw new ApiError(404, { message: missingText });
  return row;
}

/**
 * The newest release of a project; upcoming ones count only if there is no other.
 * @throws ApiError 404
 */
export async function latestTag(db: Database, project_id: number): Promise<string> {
  const newest = (isReleased: RawBuilder<unknown>) => sql`(
    select tag from releases where project_id = ${project_id} and ${isReleased} order by released_at desc, id desc limit 1)`;
  const { rows } = await sql<{ tag: string | null }>`
    select coalesce(${newest(sql`released_at <= now()`)}, ${newest(sql`released_at > now()`)}) as tag`.execute(db);
  const tag = rows[0]?.tag;
  if (!tag) throw new ApiError(404, { message: missingText });
  return tag;
}

/** Which parts of the releases a reader may see. */
export const rightsIn = (project: Project): ReleaseRights => ({
  reads_code: mayReadCode(project),
  reads_milestones: mayUse(project, 'issues') || mayUse(project, 'merge_requests'),
  may_edit: project.access_level >= levels.developer && !project.read_only,
});

/** The number of issues of milestones that the caller may read, and of closed ones, by milestone. */
export async function issueCounts(
  db: Database,
  caller: MaybeCaller,
  ids: readonly number[],
): Promise<Map<number, { total: number; closed: number }>> {
  if (ids.length === 0) return new Map();
  const { rows } = await sql<{ milestone_id: number; total: number; closed: number }>`
    select milestone_id, count(*)::integer as total, (count(*) filter (where issues.state = 'closed'))::integer as closed
      from issues join projects on projects.id = issues.project_id
     where ${isAmong('milestone_id', ids, 'bigint[]')} and ${isVisibleIssue(caller)} group by milestone_id`.execute(db);
  return new Map(rows.map(({ milestone_id, ...counts }) => [milestone_id, counts]));
}

/** The releases of tags in a project, by tag. */
export async function releasesOfTags(db: Database, project_id: number, tags: readonly string[]) {
  if (tags.length === 0) return new Map<string, never>();
  const rows = await db
    .selectFrom('releases')
    .select(['tag', 'description'])
    .where('project_id', '=', project_id)
    .where(isAmong('tag', tags, 'text[]'))
    .execute();
  return new Map(rows.map(({ tag, description }) => [tag, { tag_name: tag, description }]));
}
