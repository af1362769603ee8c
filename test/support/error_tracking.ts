/** Errors that applications have sent. */
import assert from 'node:assert/strict';
import { digestErrors } from '../../src/areas/work/error_tracking/index.ts';
import { performQueued } from './jobs.ts';
import type { World } from './world.ts';

export interface Reports {
  /** The start of the endpoints of errors. */
  errors: string;
  /** Sends events one after the other, and groups them. */
  report(...events: object[]): Promise<void>;
}

/** Lets the project of a world take errors. */
export async function reports(here: World): Promise<Reports> {
  const base = `/projects/${here.project.id}/error_tracking`;
  const owner = here.as('owner');
  await owner.put(`${base}/settings`, { active: true, integrated: true });
  const [{ public_key }] = (await owner.get(`${base}/client_keys`)).body;
  const store = `${here.url}/api/v4/error_tracking/collector/api/${here.project.id}/store/?sentry_key=${public_key}`;
  return {
    errors: `${base}/errors`,
    async report(...events) {
      for (const event of events) {
        const { status } = await fetch(store, { method: 'POST', body: JSON.stringify(event) });
        assert.equal(status, 200);
      }
      await performQueued(here.services, [digestErrors]);
    },
  };
}

/** An event about something that was thrown. */
export const thrown = (type: string, value: string, more: object = {}) => ({
  exception: { values: [{ type, value }] },
  ...more,
});
