/** Licences: what administrators install, and what counts against them. */
import { Type } from 'typebox';
import { admin } from '../../../access/index.ts';
import {
  bytes,
  del,
  get,
  Id,
  listOf,
  nothing,
  nullable,
  one,
  post,
  put,
  type Services,
  withStatus,
} from '../../../http/index.ts';
import { addLicense, removeLicense } from './actions.ts';
import { recordBillableUsers } from './jobs.ts';
import { foundLicense, License, LicenseInFull, licensesFor } from './queries.ts';
import { usageTable } from './usage_present.ts';

const usage = {
  summary: 'What the current licence was used for, as CSV',
  access: admin,
  returns: bytes({}),
  handle: async ({ db }: Services) => {
    const table = foundLicense(await usageTable(db));
    return {
      body: Buffer.from(table),
      headers: { 'content-type': 'text/csv', 'content-disposition': 'attachment; filename="license_usage.csv"' },
    };
  },
};

export const licenseRoutes = [
  get('/license', {
    summary: 'Show the licence that decides; null without one',
    access: admin,
    returns: one(nullable(LicenseInFull)),
    handle: async ({ db }) => (await licensesFor(db, 'current'))[0] ?? null,
  }),
  get('/licenses', {
    summary: 'List all licences, newest first',
    access: admin,
    returns: listOf(License),
    handle: ({ db }) => licensesFor(db, 'all'),
  }),
  get('/license/usage_export', usage),
  get('/license/usage_export.csv', usage),
  get('/license/:id', {
    summary: 'Show a licence',
    access: admin,
    input: { id: Id },
    returns: one(LicenseInFull),
    handle: async ({ db, input }) => foundLicense((await licensesFor(db, input.id))[0]),
  }),
  post('/license', {
    summary: 'Install a licence',
    access: admin,
    input: { license: Type.String({ description: 'The text, as it was issued' }) },
    returns: one(LicenseInFull),
    handle: ({ db, licenseKeys, input }) =>
      db.transaction().execute(async (tx) => {
        const id = await addLicense(tx, licenseKeys, input.license);
        return (await licensesFor(tx, id))[0]!;
      }),
  }),
  del('/license/:id', {
    summary: 'Remove a licence; the next that holds decides, or there is none',
    access: admin,
    input: { id: Id },
    returns: nothing,
    handle: ({ db, input }) => removeLicense(db, input.id),
  }),
  put('/license/:id/refresh_billable_users', {
    summary: 'Count the billable users again, in the background',
    access: admin,
    input: { id: Id },
    returns: withStatus(202, one(Type.Object({ success: Type.Boolean() }))),
    handle: async ({ db, input }) => {
      foundLicense(await db.selectFrom('licenses').select('id').where('id', '=', input.id).executeTakeFirst());
      await recordBillableUsers.enqueue(db, {}, { key: 'now' });
      return { success: true };
    },
  }),
];
