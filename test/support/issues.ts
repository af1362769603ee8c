/** Issues for tests that need some. */
import assert from 'node:assert/strict';
import { sql } from 'kysely';
import type { IssueReply } from '../../src/areas/work/issues/index.ts';
import type { Persona, World } from './populate.ts';

/**
 * Adds an issue over the API.
 * @param issue parameters of the call
 * @param by who adds it
 */
export async function addIssue(
  { as, project }: Pick<World, 'as' | 'project'>,
  issue: Record<string, unknown> = {},
  by: Persona = 'owner',
): Promise<IssueReply> {
  const answer = await as(by).post(`/projects/${project.id}/issues`, { title: 'An issue', ...issue });
  assert.equal(answer.status, 201, JSON.stringify(answer.body));
  return answer.body;
}

/** Adds issues to the project, with titles in no order, half of them with a weight. */
export async function manyIssues(
  { db, project, people }: Pick<World, 'db' | 'project' | 'people'>,
  count: number,
): Promise<void> {
  await sql`
    insert into issues (project_id, iid, title, author_id, weight)
    select ${project.id}, n, 'Issue ' || n * 7919 % 1000, ${people.owner.id}, case when n % 2 = 0 then n % 5 end
      from generate_series(1, ${count}::int) n`.execute(db);
}
