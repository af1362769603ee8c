import assert from 'node:assert/strict';
import { test } from 'node:test';
import fastify from 'fastify';
import type { Services } from '../services/index.ts';
import { type Door, type Doorway, openDoorway } from './door.ts';
import type { Caller } from './endpoint.ts';
import { type ErrorForm, jsonForm, messageOf } from './error_replies.ts';
import { ApiError, forbidden, unauthorized } from './errors.ts';
import type { Outage } from './outage.ts';

const services = { url: 'http://coppice.test' } as Services;
const caller = { sudo: false, token: { id: 1, scopes: ['read_api'], kind: 'personal' } } as unknown as Caller;

/** What a door is asked to do, in order. */
async function ask(declared: Partial<Door>, errors: ErrorForm = jsonForm) {
  const doorway: Doorway = {
    cost: 'usual',
    doors: [{ method: 'GET', url: '/', handle: ({ reply }) => reply.send('open'), ...declared }],
    errors: () => errors,
  };
  const app = fastify().decorate('outage', { covers: () => false } as unknown as Outage);
  await openDoorway(app, services, doorway);
  return app.inject('/');
}

test('a request is identified, counted, held against scopes and handled, in this order', async () => {
  const steps: string[] = [];
  const answer = await ask({
    who: {
      identify: async () => {
        steps.push('identified');
        return caller;
      },
      count: async (_services, counting) => {
        steps.push(`counted for ${counting.caller?.token.id}`);
        return { 'ratelimit-remaining': '1' };
      },
      scopes: () => ['read_api'],
    },
    handle: ({ caller: admitted, reply }) => {
      steps.push(`handled for ${admitted?.token.id}`);
      return reply.send('open');
    },
  });
  assert.equal(answer.body, 'open');
  assert.equal(answer.headers['ratelimit-remaining'], '1');
  assert.deepEqual(steps, ['identified', 'counted for 1', 'handled for 1']);
});

test('an invalid credential is counted, and a token without the scope is refused, before any work', async () => {
  let counted = 0;
  const count = async () => {
    counted++;
    return {};
  };
  const handle = () => assert.fail('the door was opened');
  const unknown = { identify: () => Promise.reject(unauthorized()), scopes: () => undefined, count };
  const refused = await ask({ who: unknown, handle });
  assert.deepEqual([refused.statusCode, refused.json(), counted], [401, { message: '401 Unauthorized' }, 1]);
  const weak = { identify: async () => caller, scopes: () => ['api'] };
  assert.equal((await ask({ who: weak, handle })).json().error, 'insufficient_scope');
  const own = await ask({ who: { ...weak, insufficient: () => forbidden('no') }, handle });
  assert.deepEqual([own.statusCode, own.json()], [403, { message: '403 Forbidden - no' }]);
});

test('refusals and failures are written in the form of the doorway', async () => {
  const form: ErrorForm = {
    meaningOf: (error) => (error.message === 'known' ? new ApiError(507, { message: 'No space' }) : undefined),
    write: (refusal, _request, reply) => reply.type('text/plain').send(messageOf(refusal)),
  };
  const failing = (error: Error) => ask({ handle: () => Promise.reject(error) }, form);
  const answers = await Promise.all([failing(new Error('known')), failing(new Error('a bug')), failing(forbidden())]);
  assert.deepEqual(
    answers.map(({ statusCode, body }) => [statusCode, body]),
    [
      [507, 'No space'],
      [500, 'Internal Server Error'],
      [403, 'Forbidden'],
    ],
  );
});
