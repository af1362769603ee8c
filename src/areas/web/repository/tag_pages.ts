/** The tags of a repository. */
import type { Static } from 'typebox';
import type { Page as ListPage } from '../../../http/index.ts';
import { page, pagingOf } from '../../../pages/index.ts';
import { Tag } from '../../code/repository/index.ts';
import { tagPage, tagsPage } from './address_rules.ts';
import { tagsView, tagView } from './tag_views.ts';

export interface Tags {
  id: string;
  tags: ListPage<Static<typeof Tag>>;
}

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

export interface ShownTag {
  id: string;
  tag: Static<typeof Tag>;
  /** Whether the caller may write to the repository. */
  may_write: boolean;
}

export const tagPages = page('/:id/-/tags/*tag_name', {
  async load(call): Promise<ShownTag> {
    const [tag, may_write] = await Promise.all([call.one(Tag, 'getTag'), call.may('createTag')]);
    return { id: call.params.id!, tag, may_write };
  },
  forms: { remove: { runs: 'deleteTag', next: (_reply, { params }) => tagsPage(params.id!) } },
  view: tagView,
});
