/** Views of forms that change files. */
import { projectPage } from '../../../access/index.ts';
import {
  type Content,
  type Field,
  form,
  type Html,
  hidden,
  html,
  refusalIn,
  type Seen,
  type View,
} from '../../../pages/index.ts';
import { blobPage, treePage } from '../../code/repository/index.ts';
import { joined } from '../repository/address_rules.ts';
import { pathLinks } from '../repository/tree_views.ts';
import type { EditedFile } from './file_queries.ts';
import type { Writing } from './place_queries.ts';
import { nameOf } from './rules.ts';

export interface EditedPlace {
  writing: Writing;
  file: EditedFile;
}

/** Of a message that is longer, people write the rest below the first line. */
const messageRows = 3;

/** The message, and the branch that the commit goes to. */
function commitFields({ place: { ref, commit }, offered_branch, into }: Writing, message: string): Field[] {
  const isFirst = !commit;
  return [
    { name: 'commit_message', label: 'Commit message', kind: 'area', rows: messageRows, value: message },
    {
      name: 'branch',
      label: into?.is_fork ? `Branch of ${into.path}` : 'Branch',
      is_required: true,
      value: offered_branch,
      refused_as: ['branch_name'],
      help: isFirst ? 'The first branch of the repository.' : `Another name than ${ref} begins a new branch.`,
    },
    ...(isFirst
      ? []
      : [
          {
            name: 'merge_request',
            label: 'Start a merge request if the branch is new',
            kind: 'checkbox' as const,
            value: true,
          },
        ]),
  ];
}

/** Where the change goes, if it is not where the visitor is. */
function detourOf({ place: { id, ref }, into, offered_branch }: Writing): Content {
  if (into?.is_fork)
    return html`<p class="notice">You may not change ${id}. Your change goes to your fork <a href="${projectPage(into.path)}">${into.path}</a>, from where you propose it.</p>`;
  return (
    offered_branch !== ref &&
    html`<p class="notice">You may not push to ${ref}. Your change goes to a new branch, from where you propose it.</p>`
  );
}

/** For those who may not change the project and have no fork of it. */
const forkFirst = ({ place: { id }, is_copying }: Writing, seen: Seen): Content =>
  is_copying
    ? html`<p class="notice">Your fork of ${id} is being copied. Reload this page in a moment.</p>`
    : html`<p>You may not change ${id}. In a fork of your own you may, and propose the change from there.</p>
${form(seen, 'fork', { button: 'Fork the project' }) ?? html`<p class="soft">You may not fork it.</p>`}`;

/** A page with a form, or with the way to one. */
function writingView(
  writing: Writing,
  seen: Seen,
  { title, main }: { title: readonly string[]; main: () => Content },
): View {
  const { place, into } = writing;
  return {
    title: [...title, place.ref, place.id],
    place: { id: place.id, kind: 'project', tab: 'code' },
    main: html`${pathLinks(place)}
${into ? html`${detourOf(writing)}${main()}` : forkFirst(writing, seen)}`,
  };
}

const backTo = (address: string): Html => html`<p class="actions"><a href="${address}">Cancel</a></p>`;

const textField = (name: string, text: string): Field => ({
  name: 'content',
  label: 'Content',
  kind: 'area',
  rows: 24,
  value: text,
  code_of: name,
});

/** What the file holds now, beside what the visitor has written. */
const presentText = ({ text = '' }: EditedFile): Html =>
  html`<section class="field"><label for="present">The file as it is now</label>
<textarea id="present" rows="16" readonly>
${text}</textarea></section>`;

export function editView({ writing, file }: EditedPlace, seen: Seen): View {
  const { id, ref, path } = writing.place;
  const { text, last_commit_id } = file;
  const refused = refusalIn(seen, 'save');
  // The next attempt replaces what the file holds now.
  const current = refused && { ...refused, values: { ...refused.values, last_commit_id } };
  const shown = current ? { ...seen, refused: current } : seen;
  return writingView(writing, seen, {
    title: [`Edit ${nameOf(path)}`, path],
    main: () =>
      text === undefined
        ? html`<p>This file is no text, or too long for a form. Replace it by an upload, or push the change with git.</p>
${backTo(blobPage(id, ref, path))}`
        : html`${form(shown, 'save', {
            fields: [
              { name: 'file_path', label: 'Path', is_required: true, value: path },
              textField(path, text),
              ...commitFields(writing, `Update ${nameOf(path)}`),
              hidden('last_commit_id', last_commit_id),
            ],
            button: 'Commit the change',
          })}
${refused?.refusal.status === 409 && presentText(file)}
${backTo(blobPage(id, ref, path))}`,
  });
}

export function newFileView(writing: Writing, seen: Seen): View {
  const { id, ref, path } = writing.place;
  const given = seen.query.file_name;
  const name = typeof given === 'string' ? given : '';
  return writingView(writing, seen, {
    title: ['New file', path].filter(Boolean),
    main: () => html`${form(seen, 'save', {
      fields: [
        {
          name: 'file_name',
          label: path === '' ? 'Name' : `Name in ${path}`,
          is_required: true,
          value: name,
          help: 'With slashes for folders that do not exist yet.',
        },
        textField(name, ''),
        ...commitFields(writing, name === '' ? '' : `Add ${name}`),
      ],
      button: 'Commit the file',
    })}
${backTo(treePage(id, joined(ref, path)))}`,
  });
}

export function uploadView(writing: Writing, seen: Seen): View {
  const { id, ref, path } = writing.place;
  return writingView(writing, seen, {
    title: ['Upload files', path].filter(Boolean),
    main: () => html`${form(seen, 'save', {
      fields: [
        {
          name: 'files',
          label: path === '' ? 'Files' : `Files for ${path}`,
          kind: 'file',
          is_multiple: true,
          is_required: true,
          help: 'A file of the same name is replaced. All together may have 5 MB; what is larger is for git.',
        },
        ...commitFields(writing, ''),
      ],
      button: 'Commit the files',
    })}
${backTo(treePage(id, joined(ref, path)))}`,
  });
}

export function newFolderView(writing: Writing, seen: Seen): View {
  const { id, ref, path } = writing.place;
  return writingView(writing, seen, {
    title: ['New folder', path].filter(Boolean),
    main: () => html`${form(seen, 'save', {
      fields: [
        {
          name: 'folder_name',
          label: path === '' ? 'Name' : `Name in ${path}`,
          is_required: true,
          help: 'git keeps no empty folder, so that it gets an empty file .gitkeep.',
        },
        ...commitFields(writing, ''),
      ],
      button: 'Create the folder',
    })}
${backTo(treePage(id, joined(ref, path)))}`,
  });
}

export function deletionView({ writing, file }: EditedPlace, seen: Seen): View {
  const { id, ref, path } = writing.place;
  return writingView(writing, seen, {
    title: [`Delete ${nameOf(path)}`, path],
    main: () => html`${form(seen, 'save', {
      fields: [...commitFields(writing, `Delete ${nameOf(path)}`), hidden('last_commit_id', file.last_commit_id)],
      button: `Delete ${nameOf(path)}`,
      look: 'danger',
    })}
${backTo(blobPage(id, ref, path))}`,
  });
}
