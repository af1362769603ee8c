/** Licenses: installing them, and the seats that count against them. */
import { Type } from 'typebox';
import { admin } from '../../../access/index.ts';
import {
  alias,
  bytes,
  del,
  get,
  Id,
  nothing,
  nullable,
  offeredOn,
  one,
  pageOf,
  post,
  put,
  withStatus,
} from '../../../http/index.ts';
import { paging } from '../../../lists/index.ts';
import { addLicense, removeLicense } from './actions.ts';
import { recordBillableUsers } from './jobs.ts';
import { trustedKeys } from './key_rules.ts';
import { foundLicense, License, LicenseInFull, licensesFor, licensesOnPage } from './queries.ts';
import { usageTable } from './usage_present.ts';

const usage = get('/license/usage_export', {
  operation: 'exportLicenseUsage',
  summary: 'Export the usage of the current license as CSV',
  access: admin,
  returns: bytes(['text/csv']),
  refusals: { 404: '404 Not Found' },
  handle: async ({ db }) => {
    const table = foundLicense(await usageTable(db));
    return {
      body: Buffer.from(table),
      headers: { 'content-type': 'text/csv', 'content-disposition': 'attachment; filename="license_usage.csv"' },
    };
  },
});

export const licenseRoutes = offeredOn(
  ['self-managed'],
  [
    get('/license', {
      operation: 'getCurrentLicense',
      summary: 'Get the current license',
      access: admin,
      returns: one(nullable(LicenseInFull)),
      handle: async ({ db }) => (await licensesFor(db, 'current'))[0] ?? null,
    }),
    get('/licenses', {
      operation: 'listLicenses',
      summary: 'List all licenses, newest first',
      access: admin,
      input: paging,
      returns: pageOf(License),
      handle: ({ db, input }) => licensesOnPage(db, input),
    }),
    usage,
    alias(usage, { path: '/license/usage_export.csv' }),
    get('/license/:id', {
      operation: 'getLicense',
      summary: 'Get a license',
      access: admin,
      input: { id: Id },
      returns: one(LicenseInFull),
      handle: async ({ db, input }) => foundLicense((await licensesFor(db, [input.id]))[0]),
    }),
    post('/license', {
      operation: 'createLicense',
      summary: 'Add a license',
      access: admin,
      input: { license: Type.String({ description: 'The text, as it was issued' }) },
      returns: one(LicenseInFull),
      refusals: {
        400: [
          'The license key is invalid. Make sure it is exactly as you received it.',
          'This license has already expired.',
          'This license has already been added.',
          '<reason with the number of users and the number allowed>',
        ],
      },
      handle: ({ db, secrets, licensePublicKey, input }) =>
        db.transaction().execute(async (tx) => {
          const id = await addLicense(tx, trustedKeys(secrets, licensePublicKey), input.license);
          return (await licensesFor(tx, [id]))[0]!;
        }),
    }),
    del('/license/:id', {
      operation: 'deleteLicense',
      summary: 'Delete a license',
      access: admin,
      input: { id: Id },
      returns: nothing,
      refusals: { 422: 'Cloud licenses can not be removed.' },
      handle: ({ db, input }) => removeLicense(db, input.id),
    }),
    put('/license/:id/refresh_billable_users', {
      operation: 'refreshLicenseBillableUsers',
      summary: 'Refresh the billable users of a license',
      access: admin,
      input: { id: Id },
      returns: withStatus(202, one(Type.Object({ success: Type.Boolean() }))),
      handle: async ({ db, input }) => {
        foundLicense(await db.selectFrom('licenses').select('id').where('id', '=', input.id).executeTakeFirst());
        await recordBillableUsers.enqueue(db, {}, { key: 'now' });
        return { success: true };
      },
    }),
  ],
);
