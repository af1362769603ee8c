/** Protected branches: restrict pushes to a branch, or to all branches that match a pattern, beyond the right to push to the project. */
import { type RawBuilder, sql } from 'kysely';
import { type Static, type TObject, Type } from 'typebox';
import { levels, notTopLevelText, type Project, projectRole, topLevelOwner } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import {
  allOptional,
  badParams,
  containing,
  del,
  forbidden,
  found,
  get,
  Id,
  NotBlank,
  nothing,
  one,
  optional,
  pageOf,
  patch,
  post,
  since,
} from '../../../http/index.ts';
import { mapPage, type Paging, paginate, paging } from '../../../lists/index.ts';
import { branchRefusalText, refuseGroupUnprotection } from '../security_policies/branch_checks.ts';
import {
  changeGroupProtection,
  changeProtection,
  type EntryChange,
  protectBranch,
  unprotectBranch,
} from './actions.ts';
import { ProtectedBranch, presentProtection, protectedBranchRows } from './present.ts';
import { ownedBy, protectsProject } from './queries.ts';
import type { ProtectedAction } from './rules.ts';

const actions = ['push', 'merge', 'unprotect'] as const;
const Level = (description: string) => Type.Enum([0, 30, 40, 60], { description });
const grantee = allOptional({
  access_level: Level('The lowest access level that is admitted'),
  user_id: Id,
  group_id: Id,
});
const Grant = Type.Object(grantee);
const GrantChange = Type.Object({
  ...grantee,
  id: optional(Type.Integer({ description: 'ID of an existing entry; if omitted, a new one is created' })),
  _destroy: optional(Type.Boolean({ description: 'Delete the entry' })),
});
const granted = <S extends typeof Grant | typeof GrantChange>(schema: S) =>
  allOptional({
    allowed_to_push: since('premium', Type.Array(schema)),
    allowed_to_merge: since('premium', Type.Array(schema)),
    allowed_to_unprotect: since('premium', Type.Array(schema)),
  });
const singleLevels = allOptional({
  push_access_level: Level('Who may push: 0 no one, 30 developers, 40 maintainers (the default), 60 administrators'),
  merge_access_level: Level('Who may merge'),
  unprotect_access_level: Level('Who may update or delete the protection'),
});

const codeOwners = {
  code_owner_approval_required: optional(
    since('premium', Type.Boolean({ description: 'Whether merge requests need the approvals of code owners' })),
  ),
};

type GrantsGiven = { [K in `allowed_to_${ProtectedAction}`]?: Static<typeof GrantChange>[] | undefined };

/** @throws ApiError 400 unless the entry names exactly one grantee */
function entryFrom(action: ProtectedAction, given: Static<typeof GrantChange>, index: number): EntryChange {
  const { id, _destroy, access_level = null, user_id = null, group_id = null } = given;
  const count = [access_level, user_id, group_id].filter((value) => value !== null).length;
  const names = ['access_level', 'user_id', 'group_id']
    .map((name) => `allowed_to_${action}[${index}][${name}]`)
    .join(', ');
  if (_destroy && id !== undefined) return { action, access_level, user_id, group_id, id, ends: true };
  if (count === 0) throw badParams(`${names} are missing, exactly one parameter must be provided`);
  if (count > 1) throw badParams(`${names} are mutually exclusive`);
  return { action, access_level, user_id, group_id, id, ends: false };
}

const entriesFrom = (given: GrantsGiven): EntryChange[] =>
  actions.flatMap((action) =>
    (given[`allowed_to_${action}`] ?? []).map((entry, index) => entryFrom(action, entry, index)),
  );

/** The entries for single-level parameters; maintainers by default, if there is no other grantee either. */
function levelEntries(given: Static<TObject<typeof singleLevels>> & GrantsGiven): EntryChange[] {
  return actions.flatMap((action) => {
    const access_level =
      given[`${action}_access_level`] ?? (given[`allowed_to_${action}`]?.length ? undefined : levels.maintainer);
    return access_level === undefined ? [] : { action, access_level, user_id: null, group_id: null, ends: false };
  });
}

const inheritedText = 'The protection is that of the group.';

/** The protection of a name shown for a project or group: its own before an inherited one. */
async function protectionNamed(db: Database, place: 'project' | 'group', which: RawBuilder<boolean>, name: string) {
  const named = protectedBranchRows(db, which).where('protected_branches.name', '=', name);
  const row = await named.orderBy(sql`(protected_branches.project_id is null)`).limit(1).executeTakeFirst();
  return presentProtection(found(undefined, row), place);
}

/** @throws ApiError 403 for a name protected only by the group of the project */
async function refuseInherited(db: Database, project: Project, name: string): Promise<void> {
  const shown = await protectionNamed(db, 'project', ofProject(project.id), name);
  if (shown.inherited) throw forbidden(inheritedText);
}

const ofProject = (id: number) => protectsProject(sql`${id}::bigint`);
const ofGroup = (group_id: number) => ownedBy({ group_id });

async function protectionsIn(
  db: Database,
  place: 'project' | 'group',
  which: RawBuilder<boolean>,
  input: Paging & { search?: string },
) {
  const { search } = input;
  const rows = protectedBranchRows(db, which)
    .$if(search !== undefined, (query) => query.where('protected_branches.name', 'ilike', containing(search!)))
    .orderBy('protected_branches.name')
    .orderBy('protected_branches.id');
  return mapPage(await paginate(db, rows, input), (row) => presentProtection(row, place));
}

const name = Type.String({ description: 'Name or wildcard of the protection' });
const search = optional(Type.String({ description: 'Part of the name' }));
const creation = {
  name: NotBlank({ description: 'Name of a branch, or a wildcard with `*`' }),
  ...singleLevels,
  ...granted(Grant),
  allow_force_push: Type.Boolean({ default: false, description: 'Allow users who can push to force push' }),
  ...codeOwners,
};
const change = { name, ...granted(GrantChange), allow_force_push: optional(Type.Boolean()), ...codeOwners };
const entryTexts = ['<action> access levels <reason>', 'Access levels has already been taken'];
const creationRefusals = {
  409: "Protected branch '<name>' already exists",
  422: ['Name is too long (maximum is 255 characters)', ...entryTexts],
};

const maintainer = projectRole('maintainer');
const path = '/projects/:id/protected_branches';

export const protectedBranchRoutes = [
  get(path, {
    operation: 'listProtectedBranches',
    summary: 'List protected branches, by name',
    access: maintainer,
    input: { search, ...paging },
    returns: pageOf(ProtectedBranch),
    handle: ({ db, project, input }) => protectionsIn(db, 'project', ofProject(project.id), input),
  }),
  get(`${path}/:name`, {
    operation: 'getProtectedBranch',
    summary: 'Get a protected branch or wildcard',
    access: maintainer,
    input: { name },
    returns: one(ProtectedBranch),
    handle: ({ db, project, input }) => protectionNamed(db, 'project', ofProject(project.id), input.name),
  }),
  post(path, {
    operation: 'createProtectedBranch',
    summary: 'Protect a branch or wildcard',
    access: maintainer,
    input: creation,
    returns: one(ProtectedBranch),
    refusals: creationRefusals,
    handle: async ({ db, project, input }) => {
      const entries = [...levelEntries(input), ...entriesFrom(input)];
      await db.transaction().execute((tx) => protectBranch(tx, { project_id: project.id }, { ...input, entries }));
      return protectionNamed(db, 'project', ofProject(project.id), input.name);
    },
  }),
  patch(`${path}/:name`, {
    operation: 'updateProtectedBranch',
    summary: 'Update a protected branch',
    access: maintainer,
    input: change,
    returns: one(ProtectedBranch),
    refusals: { 403: `403 Forbidden - ${inheritedText}`, 422: entryTexts },
    handle: async ({ db, project, caller, input }) => {
      const { name: protectedName, allow_force_push, code_owner_approval_required } = input;
      const change = { project, caller, name: protectedName, allow_force_push, code_owner_approval_required };
      const entries = entriesFrom(input);
      await refuseInherited(db, project, protectedName);
      await db.transaction().execute((tx) => changeProtection(tx, { ...change, entries }));
      return protectionNamed(db, 'project', ofProject(project.id), input.name);
    },
  }),
  del(`${path}/:name`, {
    operation: 'deleteProtectedBranch',
    summary: 'Unprotect a branch',
    access: maintainer,
    input: { name },
    returns: nothing,
    refusals: { 403: [`403 Forbidden - ${inheritedText}`, branchRefusalText] },
    handle: async ({ db, project, caller, input }) => {
      await refuseInherited(db, project, input.name);
      await db.transaction().execute((tx) => unprotectBranch(tx, { project, caller, name: input.name }));
    },
  }),
];

const plan = 'premium';
const owner = topLevelOwner;
const groupPath = '/groups/:id/protected_branches';

export const groupProtectedBranchRoutes = [
  get(groupPath, {
    operation: 'listGroupProtectedBranches',
    summary: 'List the branches that a top-level group protects in all projects below, by name',
    access: owner,
    plan,
    input: { search, ...paging },
    returns: pageOf(ProtectedBranch),
    refusals: { 400: notTopLevelText },
    handle: ({ db, group, input }) => protectionsIn(db, 'group', ofGroup(group.id), input),
  }),
  get(`${groupPath}/:name`, {
    operation: 'getGroupProtectedBranch',
    summary: 'Get a protected branch or wildcard of a group',
    access: owner,
    plan,
    input: { name },
    returns: one(ProtectedBranch),
    refusals: { 400: notTopLevelText },
    handle: ({ db, group, input }) => protectionNamed(db, 'group', ofGroup(group.id), input.name),
  }),
  post(groupPath, {
    operation: 'createGroupProtectedBranch',
    summary: 'Protect a branch or wildcard in all projects of a top-level group',
    access: owner,
    plan,
    input: creation,
    returns: one(ProtectedBranch),
    refusals: { 400: notTopLevelText, ...creationRefusals },
    handle: async ({ db, group, input }) => {
      const entries = [...levelEntries(input), ...entriesFrom(input)];
      await db.transaction().execute((tx) => protectBranch(tx, { group_id: group.id }, { ...input, entries }));
      return protectionNamed(db, 'group', ofGroup(group.id), input.name);
    },
  }),
  patch(`${groupPath}/:name`, {
    operation: 'updateGroupProtectedBranch',
    summary: 'Update a protected branch of a group',
    access: owner,
    plan,
    input: change,
    returns: one(ProtectedBranch),
    refusals: { 400: notTopLevelText, 422: entryTexts },
    handle: async ({ db, group, input }) => {
      const { name, allow_force_push, code_owner_approval_required } = input;
      const given = { name, allow_force_push, code_owner_approval_required, entries: entriesFrom(input) };
      await db.transaction().execute((tx) => changeGroupProtection(tx, group.id, given));
      return protectionNamed(db, 'group', ofGroup(group.id), name);
    },
  }),
  del(`${groupPath}/:name`, {
    operation: 'deleteGroupProtectedBranch',
    summary: 'Unprotect a branch of a group',
    access: owner,
    plan,
    input: { name },
    returns: nothing,
    refusals: { 400: notTopLevelText, 403: branchRefusalText },
    handle: async ({ db, group, input }) => {
      await refuseGroupUnprotection(db, group.id, input.name);
      const removed = db
        .deleteFrom('protected_branches')
        .where('group_id', '=', group.id)
        .where('name', '=', input.name);
      found(undefined, await removed.returning('id').executeTakeFirst());
    },
  }),
];
