/** Evidence: a snapshot of a release at its release time (docs/reference/releases.md#evidence). */
import { hash } from 'node:crypto';
import { sql } from 'kysely';
import { type Database, momentInJson } from '../../../db/index.ts';
import { badRequest } from '../../../http/index.ts';

/** The most evidences of one release. */
const maximumEvidences = 100;
export const tooManyText = `A release has at most ${maximumEvidences} evidences`;

/** The most issues per milestone in an evidence; the oldest are kept. */
const maximumIssues = 10_000;

const moment = (column: string) => momentInJson(column);

/** Whether everybody who may read the evidence of a project (which requires access to its releases and its code) may also read its issues. */
const showsIssues = sql`(
  projects.issues_access_level = 'enabled'
  or (projects.issues_access_level = 'private'
      and (projects.visibility = 'private' or projects.releases_access_level = 'private' or projects.repository_access_level = 'private')))`;

/**
 * Issues of the project that are not confidential, with the public addresses of their authors. Group milestones also have issues of other projects, which readers of the evidence
 * may not be allowed to see.
 */
const issues = sql`(
  select coalesce(json_agg(json_build_object(
           'id', issue.id, 'iid', issue.iid, 'title', issue.title, 'description', issue.description,
           'author', json_build_object('id', users.id, 'name', users.name, 'email', nullif(users.public_email, '')),
           'state', issue.state, 'confidential', issue.confidential, 'created_at', ${moment('issue.created_at')}, 'due_date', issue.due_date) order by issue.id), '[]')
    from (select * from issues
           where milestone_id = milestones.id and issues.project_id = projects.id and not confidential and ${showsIssues} order by id limit ${sql.lit(maximumIssues)}) issue
    join users on users.id = issue.author_id)`;

const milestones = sql`(
  select coalesce(json_agg(json_build_object(
           'id', milestones.id, 'iid', milestones.iid, 'title', milestones.title, 'description', milestones.description, 'state', milestones.state,
           'created_at', ${moment('milestones.created_at')}, 'due_date', milestones.due_date, 'issues', ${issues}) order by milestones.id), '[]')
    from release_milestones join milestones on milestones.id = milestone_id where release_id = releases.id)`;

/** The order of the members is fixed: the same release gives the same text, and so the same hash. */
const summary = sql`json_build_object('release', json_build_object(
  'id', releases.id, 'tag_name', releases.tag, 'name', releases.name, 'description', releases.description, 'created_at', ${moment('releases.created_at')},
  'project', json_build_object('id', projects.id, 'name', projects.name, 'description', projects.description, 'created_at', ${moment('projects.created_at')}),
  'milestones', ${milestones}, 'report_artifacts', '[]'::json))`;

/**
 * Stores a snapshot of a release.
 * @param tx the transaction of the release; it locks the release
 * @throws ApiError 400 if it has too many evidences
 */
export async function collectEvidence(tx: Database, release_id: number): Promise<void> {
  const { rows } = await sql<{ summary: object; count: number }>`
    select ${summary} as summary, (select count(*)::integer from release_evidences where release_id = releases.id) as count
      from releases join projects on projects.id = releases.project_id where releases.id = ${release_id} for update of releases`.execute(
    tx,
  );
  const [release] = rows;
  if (!release) return;
  if (release.count >= maximumEvidences) throw badRequest(tooManyText);
  const text = JSON.stringify(release.summary);
  await tx
    .insertInto('release_evidences')
    .values({ release_id, summary: text, sha: hash('sha256', text) })
    .execute();
}
