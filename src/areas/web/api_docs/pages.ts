/** The documentation of the API: one page for each of its parts (docs/reference/pages.md#documentation-of-the-api). */
import { apiRoot, type Documented, documentPath, notFound, openApiDocument } from '../../../http/index.ts';
import { type AnyPage, page, textIn } from '../../../pages/index.ts';
import { type ApiDocument, asDocument, slugOf } from './document_rules.ts';
import { type Contents, contentsView, type Listed, tagView } from './views.ts';

/** The operations of one part of the API, with the bodies of webhooks where these are made. */
const partOf = ({ endpoints, doors, hook_events }: Documented, tag: string): Documented => ({
  endpoints: endpoints.filter((endpoint) => endpoint.tag.name === tag),
  doors: doors.filter((door) => door.description.tag === tag),
  hook_events: tag === 'Webhooks' ? hook_events : [],
});

/** The operations with what is needed to find them. */
const listed = ({ endpoints, doors }: Documented): Listed[] => [
  ...endpoints.map(({ tag, summary, method, path, operation }) => ({
    ...{ tag: tag.name, summary, method, operation },
    path: documentPath(path),
  })),
  ...doors.map(({ method, path, description: { tag, summary, operation } }) => ({
    ...{ tag, summary, method, operation },
    path: documentPath(path),
  })),
];

/** @param documented all that the API offers */
export const apiDocsPages = (documented: Documented): readonly AnyPage[] => [
  page('/docs', {
    async load({ query, services: { url } }): Promise<Contents> {
      const operations = listed(documented);
      const words = textIn(query, 'search')?.toLowerCase().split(/\s+/);
      const isFound = ({ tag, summary, path, operation }: Listed) => {
        const text = `${tag} ${summary} ${path} ${operation}`.toLowerCase();
        return words?.every((word) => text.includes(word));
      };
      const tags = [...new Set(documented.endpoints.map(({ tag }) => tag))];
      return {
        tags: tags.map((tag) => ({ ...tag, count: operations.filter((each) => each.tag === tag.name).length })),
        found: words && operations.filter(isFound),
        address: `${url}${apiRoot}`,
      };
    },
    view: contentsView,
  }),
  page('/docs/:tag', {
    async load({ params, services: { url } }): Promise<{ document: ApiDocument; url: string }> {
      const named = documented.endpoints.find(({ tag }) => slugOf(tag.name) === params.tag);
      if (!named) throw notFound('Page');
      return { document: asDocument(openApiDocument(partOf(documented, named.tag.name))), url };
    },
    view: ({ document, url }) => tagView(document, url, apiRoot),
  }),
];
