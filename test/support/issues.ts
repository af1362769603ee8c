/** Issues for tests that need some. */
import assert from 'node:assert/strict';
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
