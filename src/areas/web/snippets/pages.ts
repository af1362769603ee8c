/** Snippets of projects and of people (docs/reference/snippets.md#the-pages). */
import { forbidden, type Values } from '../../../http/index.ts';
import { filePage, type PageCall, type PageForm, page, pagingOf, textIn } from '../../../pages/index.ts';
import { SnippetForm } from '../../code/snippets/index.ts';
import { Discussion } from '../../conversation/discussions/index.ts';
import { formOf } from '../declared/definition.ts';
import { fieldsFor } from '../declared/form_present.ts';
import { pathOf, textsAsHtml } from '../issuables/present.ts';
import { textsOf } from '../issuables/timeline_present.ts';
import { type Kind, kinds, listOf, placeOf, type ShownSnippet } from './definition.ts';
import { filesOf } from './file_queries.ts';
import { fileFields, filesIn, mostFiles, typedTexts } from './form_rules.ts';
import { formView, listView, ownListView, snippetView } from './views.ts';

const toSnippet = ({ web_url }: ShownSnippet) => pathOf(web_url);

/** The comments of a snippet of a project; personal ones have none. */
async function talkOf(call: PageCall, kind: Kind, { project_id }: ShownSnippet) {
  if (kind === 'personal') return undefined;
  const threads = await call.perhaps(call.list(Discussion, 'showSnippetDiscussions', pagingOf(call)));
  const place = {
    kind: 'project',
    full_path: call.params.id!,
    ...(project_id !== null && { id: project_id }),
  } as const;
  return threads && { threads, texts: (await textsOf(call, place, threads.items)).texts };
}

const talkForms = {
  comment: { runs: 'createSnippetDiscussion' },
  reply: { runs: 'createSnippetDiscussionNote' },
  edit_note: { runs: 'updateSnippetDiscussionNote' },
  remove_note: { runs: 'deleteSnippetDiscussionNote' },
} satisfies Record<string, PageForm>;

const snippetPage = (kind: Kind) =>
  page(kinds[kind].one, {
    async load(call) {
      const snippet = await call.one(SnippetForm, kinds[kind].get);
      const text_place = kind === 'project' ? ({ kind: 'project', full_path: call.params.id! } as const) : undefined;
      const [files, talk, [description], mayEdit] = await Promise.all([
        filesOf(call, kind, snippet),
        talkOf(call, kind, snippet),
        textsAsHtml(call, text_place, [snippet.description]),
        call.may(kinds[kind].update),
      ]);
      return { kind, id: call.params.id!, snippet, files, talk, description, mayEdit };
    },
    forms: {
      ...(kind === 'project' && talkForms),
      remove: { runs: kinds[kind].remove, next: (_: never, call: PageCall) => listOf(kind, call) },
    },
    view: snippetView,
  });

const fields = {
  title: { maximum: 255 },
  description: { kind: 'markdown', help: 'Markdown.' },
  visibility: {
    words: { private: 'Private', internal: 'Internal', public: 'Public' },
    help: undefined,
  },
} as const;

/** How many new files a form has room for. */
const askedIn = ({ query }: PageCall, usual: number): number => {
  const asked = Number(textIn(query, 'files'));
  return Number.isInteger(asked) && asked > 0 ? asked : usual;
};

/** Shows a form as it is filled in, with room for one more new file. */
const more: PageForm = {
  act: async ({ path, caller }, { asked, ...fields }) => ({
    to: `${path}?files=${Math.min(mostFiles, Number(asked) + 1)}`,
    ...{ visitor: caller!, form: 'save', values: typedTexts(fields), text: 'There is room for another file.' },
  }),
};

const newPage = (kind: Kind) =>
  page(`${kinds[kind].start}/new`, {
    signed_in: true,
    async load(call) {
      if (!(await call.may(kinds[kind].create))) {
        if (kind === 'project') await call.described('getProject');
        throw forbidden();
      }
      const asked = askedIn(call, 1);
      const shown = await fieldsFor(call, formOf(kinds[kind].create, fields, { button: '' }));
      return {
        ...{ title: ['New snippet'], button: 'Create snippet', asked, edited: undefined },
        ...{ fields: [...shown, ...fileFields([], asked)], placed: placeOf(kind, call.params.id!) },
      };
    },
    forms: {
      more,
      save: {
        runs: kinds[kind].create,
        takes: async (_, given) => ({ ...withoutEmpty(given), files: filesIn(given, true) }),
        next: toSnippet,
      },
    },
    view: formView,
  });

/** The fields of the snippet itself as parameters; an empty description stays away. */
const withoutEmpty = ({ title, description, visibility }: Values): Values => ({
  title,
  ...(textIn({ description }, 'description') !== undefined && { description }),
  ...(textIn({ visibility }, 'visibility') !== undefined && { visibility }),
});

const editPage = (kind: Kind) => {
  const read = async (call: PageCall) => {
    const snippet = await call.one(SnippetForm, kinds[kind].get);
    const files = await filesOf(call, kind, snippet);
    const edited = [
      snippet.title,
      snippet.description,
      snippet.visibility,
      files.map(({ path, text }) => [path, text]),
    ];
    return { snippet, files, edited };
  };
  return page(`${kinds[kind].one}/edit`, {
    signed_in: true,
    async load(call) {
      const { snippet, files, edited } = await read(call);
      if (!(await call.may(kinds[kind].update))) throw forbidden();
      const asked = askedIn(call, 0);
      const shown = await fieldsFor(call, formOf(kinds[kind].update, fields, { button: '' }), snippet);
      return {
        ...{ title: [`Edit ${snippet.title}`, 'Snippets'], button: 'Save snippet', asked, edited },
        ...{ fields: [...shown, ...fileFields(files, asked)], placed: placeOf(kind, call.params.id!) },
      };
    },
    forms: {
      more,
      save: {
        runs: kinds[kind].update,
        edits: async (call) => (await read(call)).edited,
        takes: async (_, given) => ({
          title: given.title,
          description: given.description,
          visibility: given.visibility,
          files: filesIn(given, false),
        }),
        next: toSnippet,
      },
    },
    view: formView,
  });
};

const projectListPage = page('/:id/-/snippets', {
  load: async ({ list, may, params, query }) => {
    const [snippets, mayCreate] = await Promise.all([
      list(SnippetForm, 'listProjectSnippets', pagingOf({ query })),
      may('createProjectSnippet'),
    ]);
    return { id: params.id!, snippets, mayCreate };
  },
  view: listView,
});

const scopes = { mine: 'listSnippets', public: 'listPublicSnippets', all: 'listAllSnippets' } as const;

const ownListPage = page('/dashboard/snippets', {
  signed_in: true,
  load: async ({ list, may, query }) => {
    const asked = textIn(query, 'scope');
    const scope = asked === 'public' || asked === 'all' ? asked : 'mine';
    const [snippets, mayCreate] = await Promise.all([
      list(SnippetForm, scopes[scope], pagingOf({ query })),
      may('createSnippet'),
    ]);
    return { scope, snippets, mayCreate };
  },
  view: ownListView,
});

export const snippetPages = [
  ownListPage,
  newPage('project'),
  newPage('personal'),
  editPage('project'),
  editPage('personal'),
  snippetPage('project'),
  filePage('/:id/-/snippets/:snippet_id/raw', ({ bytes }) => bytes('getRawProjectSnippet')),
  filePage('/:id/-/snippets/:snippet_id/raw/:ref/*file_path', ({ bytes }) => bytes('getRawProjectSnippetFile')),
  projectListPage,
  snippetPage('personal'),
  filePage('/-/snippets/:id/raw', ({ bytes }) => bytes('getRawSnippet')),
  filePage('/-/snippets/:id/raw/:ref/*file_path', ({ bytes }) => bytes('getRawSnippetFile')),
];
