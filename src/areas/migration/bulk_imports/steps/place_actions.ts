/** Creating the group or project of an entity, with the rights of the importer. */
import { Check } from 'typebox/value';
import { callerInJob } from '../../../../access/index.ts';
import { type Database, stamped } from '../../../../db/index.ts';
import { isValidBranchName } from '../../../../git/index.ts';
import { ApiError, type Caller, textOf } from '../../../../http/index.ts';
import { isText } from '../../../../relations/index.ts';
import { ProtectionDefaults } from '../../../code/protected_branches/index.ts';
import { storageForNew } from '../../../instance/application_settings/index.ts';
import { createGroup } from '../../../spaces/groups/index.ts';
import { createProject, namespaceFor } from '../../../spaces/projects/index.ts';
import { mayMake } from '../creation_actions.ts';
import { inStep, lockedStep, record } from '../journal_actions.ts';
import { creationIn, flagIn, type Self, textIn, visibilityFor, withSelf } from '../source/self_queries.ts';
import { type EntityRow, type Step, type StepCall, StepFailed, type StepFailure } from '../step_definition.ts';
import { projectColumns } from './project_rules.ts';

/**
 * The importer, if they may still create the entity.
 * @throws StepFailed
 */
async function importerOf(call: StepCall): Promise<Caller> {
  const importer = await callerInJob(call, call.migration.user_id);
  if (!importer) throw new StepFailed('PermissionDenied', 'The account of the importer is not active.');
  if (await mayMake(call.db, importer, call.entity)) return importer;
  const { entity_type, destination_namespace } = call.entity;
  throw new StepFailed(
    'PermissionDenied',
    `The importer may not create a ${entity_type} in '${destination_namespace}'.`,
  );
}

/** Tries the name at the source, then the path: the name may be taken, or not allowed here. */
async function withName(self: Self, slug: string, make: (name: string) => Promise<void>): Promise<void> {
  const name = textIn(self, 'name', 255);
  try {
    await make(name || slug);
  } catch (error) {
    if (!(error instanceof ApiError) || !name) throw error;
    await make(slug);
  }
}

/** Converts refusals by our own rules to failures. */
async function refusable(make: () => Promise<void>): Promise<void> {
  try {
    await make();
  } catch (error) {
    if (error instanceof ApiError) throw new StepFailed('InvalidRecord', textOf(error));
    throw error;
  }
}

const made = (tx: Database, entity: EntityRow, { id }: Self, ids: { namespace_id: number } | { project_id: number }) =>
  tx
    .updateTable('bulk_import_entities')
    .set(stamped({ ...ids, source_id: Number.isSafeInteger(id) ? (id as number) : null }))
    .where('id', '=', entity.id)
    .execute();

interface Branch {
  /** Undefined if the source has no default branch, or one that is not valid here. */
  name: string | undefined;
  failures: StepFailure[];
}

/** The default branch. An invalid branch name is a failure, and the rest of the group or project is still imported. */
function defaultBranchIn({ default_branch: given }: Self, relation: string): Branch {
  if (typeof given !== 'string' || given === '') return { name: undefined, failures: [] };
  if (given.length <= 255 && isText(given) && isValidBranchName(given)) return { name: given, failures: [] };
  const title = given.slice(0, 255).toWellFormed();
  const failure = { relation, exception_class: 'InvalidRecord', message: 'default_branch is invalid', url: null };
  return { name: undefined, failures: [{ ...failure, step: 'transformer', title }] };
}

const groupFlags = [
  'share_with_group_lock',
  'request_access_enabled',
  'lfs_enabled',
  'emails_enabled',
  'mentions_disabled',
  'membership_lock',
];
const choices: Readonly<Record<string, readonly unknown[]>> = {
  project_creation_level: ['noone', 'owner', 'maintainer', 'developer', 'administrator'],
  subgroup_creation_level: ['owner', 'maintainer'],
  default_branch_protection: [0, 1, 2, 3, 4],
  wiki_access_level: ['disabled', 'private', 'enabled'],
};

/** The settings of a group that are valid on this server. */
function groupColumns(self: Self): object {
  const flags = groupFlags.filter((name) => flagIn(self, name) !== undefined);
  const chosen = Object.keys(choices).filter((name) => choices[name]!.includes(self[name]));
  const defaults = self.default_branch_protection_defaults;
  return {
    ...Object.fromEntries([...flags, ...chosen].map((name) => [name, self[name]])),
    ...(Check(ProtectionDefaults, defaults) ? { default_branch_protection_defaults: JSON.stringify(defaults) } : {}),
  };
}

export const groupStep: Step = {
  name: 'group',
  run: (call) =>
    withSelf(call, async (self) => {
      const { db, entity, step } = call;
      if (entity.namespace_id !== null) return;
      const importer = await importerOf(call);
      const parent =
        entity.destination_namespace === ''
          ? undefined
          : await namespaceFor(db, importer, entity.destination_namespace);
      const visibility = await visibilityFor(call, self, parent?.visibility);
      const branch = defaultBranchIn(self, step.relation);
      const group = {
        ...groupColumns(self),
        path: entity.destination_slug,
        parent_id: parent?.id,
        description: textIn(self, 'description', 500),
        default_branch: branch.name ?? null,
        visibility,
        creator_id: importer.id,
        repository_storage: await storageForNew(call),
        is_quiet: true as const,
        ...creationIn(self),
      };
      await refusable(() =>
        withName(self, entity.destination_slug, (name) =>
          inStep(db, step.id, async (tx, row) => {
            await made(tx, entity, self, { namespace_id: await createGroup(tx, { ...group, name }) });
            await record(tx, call, row, { failures: branch.failures });
          }),
        ),
      );
    }),
};

export const projectStep: Step = {
  name: 'project',
  run: (call) =>
    withSelf(call, async (self) => {
      const { db, entity, step } = call;
      if (entity.project_id !== null) return;
      const importer = await importerOf(call);
      const namespace = (await namespaceFor(db, importer, entity.destination_namespace))!;
      const branch = defaultBranchIn(self, step.relation);
      const project = {
        path: entity.destination_slug,
        namespace,
        creator_id: importer.id,
        is_quiet: true as const,
        default_branch: branch.name ?? 'main',
        object_format:
          (self.object_format ?? self.repository_object_format) === 'sha256' ? ('sha256' as const) : ('sha1' as const),
        columns: {
          ...projectColumns(self, importer.plan),
          visibility: await visibilityFor(call, self, namespace.visibility),
          ...creationIn(self),
        },
        // The row of the step is locked first, so that a cancel waits for this creation or prevents it.
        also: async (tx: Database, id: number) => {
          const row = await lockedStep(tx, step.id);
          await made(tx, entity, self, { project_id: id });
          await record(tx, call, row, { failures: branch.failures });
        },
      };
      await refusable(() =>
        withName(self, entity.destination_slug, async (name) => {
          await createProject(call, { ...project, name });
        }),
      );
    }),
};
