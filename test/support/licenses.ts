/** Licenses for tests. */
import assert from 'node:assert/strict';
import { issueLicense, type Licensed } from '../../src/areas/instance/licenses/index.ts';
import type { Plan } from '../../src/http/index.ts';
import type { World } from './populate.ts';

const day_ms = 86_400_000;

/** A day, `YYYY-MM-DD`, so many days from today. */
export const dayFromNow = (days: number): string => new Date(Date.now() + days * day_ms).toISOString().slice(0, 10);

/**
 * The text of a license that the server of a world takes.
 * @param restrictions plan, seats and the like; left out, any number may use Ultimate
 */
export const licenseText = (
  { services }: Pick<World, 'services'>,
  restrictions: Licensed['restrictions'] = { plan: 'ultimate' },
  rest: Partial<Omit<Licensed, 'restrictions'>> = {},
): Promise<string> =>
  issueLicense(services.secrets, {
    licensee: { Name: 'Ada', Email: 'ada@example.com', Company: 'Orchard' },
    starts_at: dayFromNow(-30),
    expires_at: dayFromNow(300),
    ...rest,
    restrictions,
  });

/** Puts another plan in force on the server of a world, over its API. */
export async function changePlan(world: World, plan: Plan): Promise<void> {
  const admin = world.as('admin');
  for (const { id } of (await admin.get('/licenses')).body)
    assert.equal((await admin.delete(`/license/${id}`)).status, 204);
  if (plan === 'free') return;
  const added = await admin.post('/license', { license: await licenseText(world, { plan }) });
  assert.equal(added.status, 201, JSON.stringify(added.body));
}
