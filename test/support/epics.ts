/** Epics for tests that need some. */
import assert from 'node:assert/strict';
import type { EpicReply } from '../../src/areas/work/epics/index.ts';
import type { Persona, World } from './populate.ts';

/**
 * Adds an epic over the API.
 * @param epic parameters of the call
 * @param by who adds it
 */
export async function addEpic(
  { as, group }: Pick<World, 'as' | 'group'>,
  epic: Record<string, unknown> = {},
  by: Persona = 'owner',
): Promise<EpicReply> {
  const answer = await as(by).post(`/groups/${group.id}/epics`, { title: 'An epic', ...epic });
  assert.equal(answer.status, 201, JSON.stringify(answer.body));
  return answer.body;
}
