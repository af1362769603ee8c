/** What writing a text needs besides its form: attaching files, and completing references. */
import { type AnyPage, type PageCall, page } from '../../../pages/index.ts';
import { placeOf, type WritingPlace } from './place_queries.ts';
import { suggestionsFor } from './suggestion_queries.ts';
import { attachedView, attachView, suggestionsView } from './views.ts';

const textIn = (value: unknown): string => (typeof value === 'string' ? value : '');

const pagesIn = (base: '/:id/-' | '/groups/:id/-', noun: 'Project' | 'Group'): AnyPage[] => {
  const there = async (call: PageCall): Promise<WritingPlace> => (await placeOf(`${base}/`, call))!;
  return [
    page(`${base}/uploads/new`, {
      signed_in: true,
      load: there,
      forms: { upload: { runs: `create${noun}Upload`, shows: attachedView } },
      view: attachView,
    }),
    page(`${base}/suggestions`, {
      signed_in: true,
      load: async (call) => {
        const place = await there(call);
        const { mark, search } = call.query;
        return { place, suggestions: await suggestionsFor(call, place, textIn(mark), textIn(search)) };
      },
      view: suggestionsView,
    }),
  ];
};

export const writingPages: readonly AnyPage[] = [...pagesIn('/groups/:id/-', 'Group'), ...pagesIn('/:id/-', 'Project')];
