import assert from 'node:assert/strict';
import { test } from 'node:test';
import { world } from '../../../../test/support/world.ts';

const nights = { freeze_start: '0 23 * * *', freeze_end: '0 7 * * *', cron_timezone: 'Europe/Berlin' };

test('a freeze period is added, changed, listed and removed', async () => {
  const { as, project } = await world();
  const url = `/projects/${project.id}/freeze_periods`;

  const added = await as('maintainer').post(url, nights);
  assert.equal(added.status, 201);
  assert.deepEqual(Object.keys(added.body), [
    'id',
    'freeze_start',
    'freeze_end',
    'cron_timezone',
    'created_at',
    'updated_at',
  ]);

  const changed = await as('maintainer').put(`${url}/${added.body.id}`, { freeze_end: '0 8 * * *' });
  assert.equal(changed.status, 200);
  assert.deepEqual(changed.body, { ...added.body, freeze_end: '0 8 * * *', updated_at: changed.body.updated_at });

  assert.deepEqual((await as('reporter').get(url)).body, [changed.body]);
  assert.deepEqual((await as('reporter').get(`${url}/${added.body.id}`)).body, changed.body);

  assert.equal((await as('maintainer').delete(`${url}/${added.body.id}`)).status, 204);
  const gone = await as('reporter').get(`${url}/${added.body.id}`);
  assert.equal(gone.status, 404);
  assert.deepEqual(gone.body, { message: '404 Not found' });
});

test('the time zone is UTC by default, and an update without it keeps it', async () => {
  const { as, project } = await world();
  const url = `/projects/${project.id}/freeze_periods`;
  const { cron_timezone: _, ...zoneless } = nights;
  assert.equal((await as('maintainer').post(url, zoneless)).body.cron_timezone, 'UTC');

  const inBerlin = await as('maintainer').post(url, nights);
  const changed = await as('maintainer').put(`${url}/${inBerlin.body.id}`, { freeze_start: ' 0 22 * * * ' });
  assert.equal(changed.body.cron_timezone, 'Europe/Berlin');
  assert.equal(changed.body.freeze_start, '0 22 * * *');
});

test('periods are listed oldest first, page by page', async () => {
  const { as, project } = await world();
  const url = `/projects/${project.id}/freeze_periods`;
  const ids: number[] = [];
  for (let hour = 0; hour < 5; hour++)
    ids.push((await as('maintainer').post(url, { ...nights, freeze_start: `0 ${hour} * * *` })).body.id);

  const second = await as('reporter').get(url, { page: 2, per_page: 2 });
  assert.deepEqual(
    second.body.map(({ id }: { id: number }) => id),
    ids.slice(2, 4),
  );
  assert.equal(second.headers.get('x-total'), '5');
  assert.equal(second.headers.get('x-total-pages'), '3');
  assert.equal(second.headers.get('x-prev-page'), '1');
  assert.equal(second.headers.get('x-next-page'), '3');
});

test('invalid cron lines and time zones are refused by field, and nothing changes', async () => {
  const { as, project } = await world();
  const url = `/projects/${project.id}/freeze_periods`;
  const refusals: [object, object][] = [
    [{ ...nights, freeze_start: 'x' }, { freeze_start: [' is invalid syntax'] }],
    [{ ...nights, freeze_end: '0 0 0 * *' }, { freeze_end: [' is invalid syntax'] }],
    [{ ...nights, freeze_end: ' ' }, { freeze_end: [' is invalid syntax', "can't be blank"] }],
    [
      { ...nights, freeze_start: 'x', cron_timezone: 'Atlantis' },
      { freeze_start: [' is invalid syntax'], cron_timezone: ['syntax is invalid'] },
    ],
  ];
  for (const [body, message] of refusals) {
    const refused = await as('maintainer').post(url, { ...body });
    assert.equal(refused.status, 400);
    assert.deepEqual(refused.body, { message });
  }
  const missing = await as('maintainer').post(url, {});
  assert.equal(missing.status, 400);
  assert.deepEqual(missing.body, {
    message: 'freeze_start is missing, freeze_end is missing',
    error: 'freeze_start is missing, freeze_end is missing',
  });
  assert.deepEqual((await as('reporter').get(url)).body, []);
});

test('only maintainers can change periods, and a hidden project is not found', async () => {
  const { as, project } = await world();
  const url = `/projects/${project.id}/freeze_periods`;
  const { id } = (await as('maintainer').post(url, nights)).body;

  for (const [persona, status] of [
    ['anonymous', 401],
    ['outsider', 404],
    ['guest', 403],
    ['reporter', 403],
    ['developer', 403],
  ] as const) {
    assert.equal((await as(persona).post(url, nights)).status, status, `${persona} adds`);
    assert.equal(
      (await as(persona).put(`${url}/${id}`, { freeze_start: '0 1 * * *' })).status,
      status,
      `${persona} changes`,
    );
    assert.equal((await as(persona).delete(`${url}/${id}`)).status, status, `${persona} removes`);
  }
  assert.deepEqual((await as('outsider').get(url)).body, { message: '404 Project Not Found' });
  assert.equal((await as('guest').get(url)).status, 403);
  assert.equal((await as('reporter').get(url)).body.length, 1);
});

test('a period of another project is not found, and an invalid id is refused', async () => {
  const here = await world();
  const there = await world();
  const { id } = (await here.as('maintainer').post(`/projects/${here.project.id}/freeze_periods`, nights)).body;
  const foreign = `/projects/${there.project.id}/freeze_periods/${id}`;
  assert.equal((await there.as('maintainer').put(foreign, { freeze_start: '0 1 * * *' })).status, 404);
  assert.equal((await there.as('maintainer').delete(foreign)).status, 404);

  const invalid = await here.as('reporter').get(`/projects/${here.project.id}/freeze_periods/abc`);
  assert.equal(invalid.status, 400);
  assert.equal(invalid.body.message, 'freeze_period_id is invalid');
  assert.equal((await here.as('reporter').get(`/projects/${here.project.id}/freeze_periods/99999999999`)).status, 404);
  assert.equal((await here.as('reporter').get(`/projects/${here.project.id}/freeze_periods`)).body.length, 1);
});

test('a period that has changed since the caller read it is not deleted', async () => {
  const { as, project } = await world();
  const url = `/projects/${project.id}/freeze_periods`;
  const { id } = (await as('maintainer').post(url, nights)).body;
  const early = { headers: { 'if-unmodified-since': 'Mon, 01 Jan 2024 00:00:00 GMT' } };
  assert.equal((await as('maintainer').delete(`${url}/${id}`, {}, early)).status, 412);
  const late = { headers: { 'if-unmodified-since': new Date(Date.now() + 5000).toUTCString() } };
  assert.equal((await as('maintainer').delete(`${url}/${id}`, {}, late)).status, 204);
});
