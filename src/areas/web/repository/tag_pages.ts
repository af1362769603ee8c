/** The tags of a repository. */
import type { Static } from 'typebox';
import { page, pagingOf } from '../../../pages/index.ts';
import { Tag } from '../../code/repository/index.ts';
import { tagPage, tagsPage } from './address_rules.ts';
import { type ShownTag, type Tags, tagsView, tagView } from './tag_views.ts';

export const tagListPage = page('/:id/-/tags', {
  async load(call): Promise<Tags> {
    const { search } = call.query;
    const tags = await call.list(Tag, 'listTags', {
      ...(typeof search === 'string' && search !== '' ? { search } : {}),
      per_page: 40,
      ...pagingOf(call),
    });
    return { id: call.params.id!, tags };
  },
  forms: {
    create: { runs: 'createTag', next: ({ name }: Static<typeof Tag>, { params }) => tagPage(params.id!, name) },
  },
  view: tagsView,
});

export const tagPages = page('/:id/-/tags/*tag_name', {
  async load(call): Promise<ShownTag> {
    const [tag, may_write] = await Promise.all([call.one(Tag, 'getTag'), call.may('createTag')]);
    return { id: call.params.id!, tag, may_write };
  },
  forms: { remove: { runs: 'deleteTag', next: (_reply, { params }) => tagsPage(params.id!) } },
  view: tagView,
});
