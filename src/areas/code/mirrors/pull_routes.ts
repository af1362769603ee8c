/** Pull mirrors: repositories of other servers that projects follow (docs/reference/mirrors.md#pull-mirrors). */
import { Type } from 'typebox';
import {
  badRequest,
  checked,
  get,
  mutuallyExclusive,
  nothing,
  one,
  optional,
  post,
  put,
  withStatus,
} from '../../../http/index.ts';
import { tooLong } from '../../../texts/index.ts';
import { mirrorKeeper, openMirrorKeeper } from './access.ts';
import { BranchRegex, HostKeys, MirrorUrl } from './parameters.ts';
import { PullMirror, presentPullMirror } from './present.ts';
import {
  notMirroredText,
  pausedText,
  planOfMirrors,
  preparedPull,
  setPullMirror,
  syncPullMirror,
} from './pull_actions.ts';
import { pullMirrorOf } from './queries.ts';
import { maximumLengths } from './rules.ts';

const path = '/projects/:id/mirror/pull';
const common = { plan: planOfMirrors };

const Login = (description: string) =>
  optional(checked(Type.String({ description }), (text) => tooLong(text, maximumLengths.login)));

const changes = {
  enabled: optional(Type.Boolean()),
  url: optional(MirrorUrl),
  auth_user: Login('In place of the one in `url`'),
  auth_password: Login('In place of the one in `url`'),
  mirror_trigger_builds: optional(Type.Boolean({ description: 'Whether what is pulled starts pipelines' })),
  only_mirror_protected_branches: optional(Type.Boolean()),
  mirror_overwrites_diverged_branches: optional(Type.Boolean({ description: 'Default false' })),
  mirror_branch_regex: BranchRegex,
  host_keys: HostKeys,
};

export const pullMirrorRoutes = [
  get(path, {
    operation: 'getPullMirror',
    summary: 'Show what a project is pulled from',
    access: mirrorKeeper,
    ...common,
    returns: one(PullMirror),
    refusals: { 400: notMirroredText },
    handle: async ({ db, project }) => {
      const mirror = await pullMirrorOf(db, project.id);
      if (!mirror?.enabled) throw badRequest(notMirroredText);
      return presentPullMirror(mirror);
    },
  }),
  put(path, {
    operation: 'setPullMirror',
    summary: 'Set what a project is pulled from; with `enabled` or `url` it also goes on after a pause',
    description: 'Another `url` loses the user and password of the old one.',
    access: mirrorKeeper,
    ...common,
    input: changes,
    rules: [mutuallyExclusive('only_mirror_protected_branches', 'mirror_branch_regex')],
    returns: one(PullMirror),
    refusals: { 400: ['<parameter>: <reason>'] },
    handle: async ({ caller, project, input, db, secrets }) => {
      const preparation = { db, secrets, caller, field: 'url' as const };
      const prepared = await preparedPull(preparation, input);
      return presentPullMirror(
        await db.transaction().execute((tx) => setPullMirror(tx, preparation, project.id, prepared)),
      );
    },
  }),
  post(path, {
    operation: 'syncPullMirror',
    summary: 'Pull a project at once, or five minutes after the last run has ended',
    access: openMirrorKeeper,
    ...common,
    returns: withStatus(200, nothing),
    refusals: { 400: notMirroredText, 403: `403 Forbidden - ${pausedText}` },
    handle: ({ db, project }) => syncPullMirror(db, project.id),
  }),
];
