/** What can go wrong: renaming, moving, archiving and deleting projects and groups. */
import { pageBelow } from '../../../access/index.ts';
import type { Values } from '../../../http/index.ts';
import type { PageCall } from '../../../pages/index.ts';
import { formOf, settingsPage } from '../declared/definition.ts';
import { choicesOf, formPart, reading } from '../declared/form_present.ts';
import { textOf } from '../declared/views.ts';

/** The path that is typed to confirm. */
const typed = ({ params: { id } }: PageCall): string => id!;

const isActive = ({ archived, marked_for_deletion_on }: Values) => archived !== true && marked_for_deletion_on === null;
const isArchived = ({ archived, marked_for_deletion_on }: Values) =>
  archived === true && marked_for_deletion_on === null;
const isMarked = ({ marked_for_deletion_on }: Values) => marked_for_deletion_on !== null;

const settingsOf = (reply: Values) => pageBelow.project(textOf(reply, 'path_with_namespace'), 'settings/careful');
const groupSettingsOf = (reply: Values) => pageBelow.group(textOf(reply, 'full_path'), 'settings/careful');

const deletionText = 'It is kept for some days, in which it can be restored. Then everything in it is gone.';

const parentChoices = choicesOf('listGroupTransferLocations', {
  label: 'full_path',
  first: [{ value: '', label: 'None: a top-level group' }],
});

const project = reading('getProject');
const group = reading('getGroup', { with_projects: false });

export const projectCarefulPage = settingsPage('project', 'careful', [
  formPart('housekeeping', {
    ...formOf(
      'runProjectHousekeeping',
      {},
      {
        heading: 'Housekeeping',
        intro: 'Packs the repository anew, which frees disk space and makes reading faster.',
        button: 'Run housekeeping',
        look: 'plain',
        done: 'Housekeeping has begun.',
      },
    ),
  }),
  formPart('rename', {
    ...formOf(
      'updateProject',
      { path: { label: 'Path', is_clearable: true } },
      {
        heading: 'Change the path',
        intro: 'Links and remotes with the old path lead on, as long as nothing else takes it.',
        button: 'Change the path',
        look: 'danger',
        next: settingsOf,
      },
    ),
    reads: project,
  }),
  formPart('transfer', {
    ...formOf(
      'transferProject',
      { namespace: { label: 'New place', choices: choicesOf('listProjectTransferLocations', { label: 'full_path' }) } },
      {
        heading: 'Transfer',
        intro: 'The project moves into another group, with everything in it. Who is a member there gets access.',
        button: 'Transfer the project',
        look: 'danger',
        typed,
        next: settingsOf,
      },
    ),
  }),
  formPart('unfork', {
    ...formOf(
      'deleteForkRelation',
      {},
      {
        heading: 'End the fork',
        intro: 'The project is no fork any more: it cannot send merge requests to where it came from.',
        button: 'End the fork',
        look: 'danger',
        typed,
        done: 'The project is no fork any more.',
      },
    ),
    reads: project,
    isShown: ({ forked_from_project }) => forked_from_project !== undefined && forked_from_project !== null,
  }),
  formPart('fork_of', {
    ...formOf(
      'createForkRelation',
      {
        forked_from_id: {
          label: 'Fork of',
          help: 'The path of a project.',
          is_required: true,
          is_clearable: undefined,
        },
      },
      {
        heading: 'Make it a fork',
        intro: 'A project that began as a copy can send merge requests to where it came from.',
        button: 'Make it a fork',
        look: 'plain',
        done: 'The project is a fork now.',
      },
    ),
    reads: async (call) => {
      const { forked_from_project } = await project(call);
      return { forked_from_project, forked_from_id: '' };
    },
    isShown: ({ forked_from_project }) => !forked_from_project,
  }),
  formPart('archive', {
    ...formOf(
      'archiveProject',
      {},
      {
        heading: 'Archive',
        intro: 'An archived project can be read, and nothing in it can be changed.',
        button: 'Archive the project',
        look: 'danger',
        done: 'The project is archived.',
      },
    ),
    reads: project,
    isShown: isActive,
  }),
  formPart('unarchive', {
    ...formOf(
      'unarchiveProject',
      {},
      {
        heading: 'Archived',
        intro: 'Nothing in this project can be changed until it is taken out of the archive.',
        button: 'Take it out of the archive',
        look: 'plain',
        done: 'The project can be changed again.',
      },
    ),
    reads: project,
    isShown: isArchived,
  }),
  formPart('delete', {
    ...formOf(
      'deleteProject',
      {},
      {
        heading: 'Delete',
        intro: deletionText,
        button: 'Delete the project',
        look: 'danger',
        is_sensitive: true,
        typed,
        done: 'The project will be deleted. Until then it can be restored here.',
      },
    ),
    reads: project,
    isShown: (reply) => !isMarked(reply),
  }),
  formPart('restore', {
    ...formOf(
      'restoreProject',
      {},
      {
        heading: 'Marked for deletion',
        intro: 'This project will be deleted. Until then, it can be restored.',
        button: 'Restore the project',
        look: 'plain',
        done: 'The project stays.',
      },
    ),
    reads: project,
    isShown: isMarked,
  }),
]);

export const groupCarefulPage = settingsPage('group', 'careful', [
  formPart('rename', {
    ...formOf(
      'updateGroup',
      { path: { label: 'Path', is_clearable: true } },
      {
        heading: 'Change the path',
        intro:
          'The addresses of all projects in it change. Links with the old path lead on, as long as nothing else takes it.',
        button: 'Change the path',
        look: 'danger',
        next: groupSettingsOf,
      },
    ),
    reads: group,
  }),
  formPart('transfer', {
    ...formOf(
      'transferGroup',
      { group_id: { label: 'New parent', choices: parentChoices } },
      {
        heading: 'Transfer',
        intro: 'The group moves below another one, with all subgroups and projects.',
        button: 'Transfer the group',
        look: 'danger',
        typed,
        next: groupSettingsOf,
      },
    ),
  }),
  formPart('archive', {
    ...formOf(
      'archiveGroup',
      {},
      {
        heading: 'Archive',
        intro: 'Everything in an archived group can be read, and nothing can be changed.',
        button: 'Archive the group',
        look: 'danger',
        done: 'The group is archived.',
      },
    ),
    reads: group,
    isShown: isActive,
  }),
  formPart('unarchive', {
    ...formOf(
      'unarchiveGroup',
      {},
      {
        heading: 'Archived',
        intro: 'Nothing in this group can be changed until it is taken out of the archive.',
        button: 'Take it out of the archive',
        look: 'plain',
        done: 'The group can be changed again.',
      },
    ),
    reads: group,
    isShown: isArchived,
  }),
  formPart('delete', {
    ...formOf(
      'deleteGroup',
      {},
      {
        heading: 'Delete',
        intro: deletionText,
        button: 'Delete the group',
        look: 'danger',
        is_sensitive: true,
        typed,
        done: 'The group will be deleted. Until then it can be restored here.',
      },
    ),
    reads: group,
    isShown: (reply) => !isMarked(reply),
  }),
  formPart('restore', {
    ...formOf(
      'restoreGroup',
      {},
      {
        heading: 'Marked for deletion',
        intro: 'This group will be deleted. Until then, it can be restored.',
        button: 'Restore the group',
        look: 'plain',
        done: 'The group stays.',
      },
    ),
    reads: group,
    isShown: isMarked,
  }),
]);
