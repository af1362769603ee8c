/** Applications of the instance: programs that sign people in with this server (docs/reference/applications.md). */
import { Type } from 'typebox';
import { admin } from '../../../access/index.ts';
import {
  checked,
  del,
  get,
  Id,
  NotBlank,
  nothing,
  one,
  optional,
  pageOf,
  post,
  withStatus,
} from '../../../http/index.ts';
import { mapPage, paginate, paging } from '../../../lists/index.ts';
import { tooLong } from '../../../texts/index.ts';
import { deleteApplication, registerApplication, renewSecret } from './actions.ts';
import { Application, NewApplication, present, withSecret } from './present.ts';
import { applicationsOf } from './queries.ts';
import { scopeReasons } from './rules.ts';

const longestName = 255;

/** What an application is registered with. */
export const newApplication = {
  name: checked(Type.String({ description: 'At most 255 characters' }), (name) =>
    name.trim() === '' ? ["can't be blank"] : tooLong(name, longestName),
  ),
  redirect_uri: Type.String({ description: 'The addresses that people may be sent back to, one a line' }),
  scopes: checked(NotBlank({ description: 'Names with blanks between them' }), scopeReasons),
  confidential: optional(Type.Boolean({ description: 'Whether it can keep its secret', default: true })),
};

export const redirectRefusals = [
  'redirect_uri: must be a valid URI.',
  'redirect_uri: must be an absolute URI.',
  'redirect_uri: cannot contain a fragment.',
  'redirect_uri: is forbidden by the server.',
  "redirect_uri: can't be blank",
  'redirect_uri: has more than 50 lines',
  'redirect_uri: is too long',
];

export const unknownText = '404 Application Not Found';

export const applicationRoutes = [
  post('/applications', {
    operation: 'createApplication',
    summary: 'Register an application of the instance',
    description: 'The secret is shown only here.',
    access: admin,
    input: {
      ...newApplication,
      trusted: optional(Type.Boolean({ description: 'Whether people are not asked', default: false })),
    },
    returns: one(NewApplication),
    refusals: { 400: redirectRefusals },
    handle: async ({ db, input }) => withSecret(await registerApplication(db, 'instance', input)),
  }),
  get('/applications', {
    operation: 'listApplications',
    summary: 'List the applications of the instance',
    access: admin,
    input: paging,
    returns: pageOf(Application),
    handle: async ({ db, input }) => mapPage(await paginate(db, applicationsOf(db, 'instance'), input), present),
  }),
  del('/applications/:id', {
    operation: 'deleteApplication',
    summary: 'Delete an application of the instance',
    description: 'Its tokens end.',
    access: admin,
    input: { id: Id },
    returns: nothing,
    refusals: { 404: unknownText },
    handle: ({ db, input }) => deleteApplication(db, 'instance', input.id),
  }),
  post('/applications/:id/renew-secret', {
    operation: 'renewApplicationSecret',
    summary: 'Renew the secret of an application',
    description: 'The former secret no longer counts. The new one is shown only here.',
    access: admin,
    input: { id: Id },
    returns: withStatus(201, one(NewApplication)),
    refusals: { 404: unknownText },
    handle: async ({ db, input }) => withSecret(await renewSecret(db, 'instance', input.id)),
  }),
];
