/** The filter behind the parser: allowed elements, attributes and addresses. */
import type sanitizeHtml from 'sanitize-html';
import { formulaAttributes, formulaTags } from './formulas.ts';
import { partOfOtherText, partOfText, withPrefixedId } from './headings.ts';
import { insteadOfImage } from './images.ts';
import { isMarkdownFile } from './media.ts';
import { addressInFile, addressInWiki, type TextFile, type WikiPage } from './pages.ts';
import type { LinkOf } from './parser.ts';
import { keptTags } from './tags.ts';

/** The context of a text. */
export type TextContext = {
  linkOf?: LinkOf | undefined;
  /** Where the uploads of its project are, without a slash at the end: `/uploads/SECRET/NAME` in the text leads there. */
  uploads?: string | undefined;
  /** The page of a wiki that the text is: relative addresses lead from its folder, and `[[Page]]` to another page. */
  page?: WikiPage | undefined;
  /** The file of a repository that contains the text: relative addresses start from its folder, and addresses of images lead to their bytes. */
  file?: TextFile | undefined;
  /** The only server whose images are shown, as a URL; the addresses of others are written as text. Undefined: images of all servers are shown. */
  images_of?: string | undefined;
  /** The prefix of ids in the text, where a page shows several texts. */
  anchors?: string | undefined;
  /** The id of the form to which the boxes of tasks belong (`withTicks`). Without it, nobody can tick them. */
  ticks?: string | undefined;
  /** Whether the text is part of a mail, in which nothing can be ticked, headings are no targets, and formulas are not shown by all programs. */
  is_mail?: true | undefined;
};

/** Elements of the parser. In the HTML of a text, their tags are shown as they are written (tags.ts). */
const ownTags = ['input', 'section', ...formulaTags];

/** Where people say how something is placed, as old HTML says it: a style would be forbidden on our pages. */
const aligned = Object.fromEntries(
  'p div h1 h2 h3 h4 h5 h6 table tr th td hr'.split(' ').map((name) => [name, ['align']]),
);
const cell = ['align', 'valign', 'colspan', 'rowspan', 'width'];

/** The allowed HTML. Other tags that remain (tags.ts) are removed. */
const safe: sanitizeHtml.IOptions = {
  allowedTags: [...keptTags, ...ownTags],
  allowedAttributes: {
    ...Object.fromEntries(formulaTags.map((name) => [name, formulaAttributes])),
    ...aligned,
    '*': ['id'],
    a: ['href', 'title', 'aria-label'],
    img: ['src', 'alt', 'title', 'width', 'height', 'align'],
    input: ['type', 'name', 'value', 'form', 'checked', 'disabled', 'aria-label'],
    ol: ['start', 'reversed'],
    th: cell,
    td: cell,
    details: ['open'],
    abbr: ['title'],
  },
  allowedClasses: {
    a: ['anchor'],
    code: ['language-*'],
    div: ['alert', 'note', 'tip', 'important', 'warning', 'caution', 'heading'],
    li: ['task'],
    p: ['alert-title'],
    section: ['footnotes'],
  },
  allowedSchemes: ['http', 'https', 'mailto'],
  allowProtocolRelative: false,
  nestingLimit: 100,
};

/** Fields by which boxes are sent (boxes.ts). */
const boxNames = new Set(['boxes[]', 'ticked[]']);

const uploadAddress = /^\/uploads(?=\/[0-9a-f]{32}\/[^/]+$)/;

/** A relative address that names a part of another text. */
const partOfOther = /^([^#?:]+)#(.+)$/;

/**
 * What is allowed in a text. Links and images get the whole path of uploads and of pages, and images of other servers are left out.
 * @param ids the ids in the text, without a prefix
 */
export function optionsFor(
  { uploads, page, file, images_of, anchors, ticks }: TextContext,
  ids: ReadonlySet<string>,
): sanitizeHtml.IOptions {
  const withPart = (address: string): string => {
    if (address.startsWith('#')) return `#${partOfText(address.slice(1), { ids, anchors })}`;
    const [, path, part] = partOfOther.exec(address) ?? [];
    const isOfText = path !== undefined && (page !== undefined || (file !== undefined && isMarkdownFile(path)));
    return isOfText ? `${path}#${partOfOtherText(part!)}` : address;
  };
  const wholeAddress = (written: string, attribute: 'href' | 'src'): string => {
    const address = withPart(written);
    // As a function, since a replacement text gives some characters a meaning.
    if (uploads !== undefined && uploadAddress.test(address)) return address.replace(uploadAddress, () => uploads);
    if (file) return addressInFile(file, address, attribute);
    return page === undefined ? address : addressInWiki(page, address, attribute);
  };
  const whole = (attribs: sanitizeHtml.Attributes, attribute: 'href' | 'src'): sanitizeHtml.Attributes => {
    const address = attribs[attribute];
    return address ? { ...attribs, [attribute]: wholeAddress(address, attribute) } : attribs;
  };
  const isShown = ({ src = '' }: sanitizeHtml.Attributes) =>
    images_of === undefined || URL.parse(src, images_of)?.origin === new URL(images_of).origin;
  const isBox = ({ name, form }: sanitizeHtml.Attributes) =>
    name === undefined || (boxNames.has(name) && form !== undefined && form === ticks);
  const transformTags: sanitizeHtml.IOptions['transformTags'] = {
    '*': (tagName, attribs) => ({
      tagName,
      attribs: tagName === 'input' ? attribs : withPrefixedId(attribs, anchors),
    }),
    a: (tagName, attribs) => ({ tagName, attribs: whole(attribs, 'href') }),
    center: () => ({ tagName: 'div', attribs: { align: 'center' } }),
    img: (tagName, attribs) =>
      isShown(attribs)
        ? { tagName, attribs: whole(attribs, 'src') }
        : { tagName: 'span', attribs: {}, text: insteadOfImage(attribs) },
    input: (tagName, attribs) => ({ tagName: isBox(attribs) ? tagName : 'span', attribs }),
  };
  return { ...safe, transformTags };
}
