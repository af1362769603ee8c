/** Requests of fixtures, which have to succeed. */
import assert from 'node:assert/strict';
import type { Answer } from './client.ts';

/** The body of an answer. */
export async function sent(request: Promise<Answer>): Promise<Answer['body']> {
  const { status, body } = await request;
  assert.ok(status < 300, `${status} ${JSON.stringify(body)}`);
  return body;
}
