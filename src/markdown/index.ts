/** Markdown: lines, tasks, references and HTML. It imports no other folder of ours. */

export { type FencedBlock, fencedBlocks } from './fences.ts';
export { toHtml, toInlineHtml } from './html.ts';
export { withoutHtmlImages } from './images.ts';
export { linesOf } from './lines.ts';
export { dispositionOf, isEmbeddable, isMarkdownFile, markdownOf, mediaType, mediaTypes, storedName } from './media.ts';
export type { LinkOf } from './parser.ts';
export { toPlainHtml } from './plain.ts';
export { type Address, type Reference, type ReferenceKind, readText, referencesIn } from './references.ts';
export { inSlices, mapInSlices, type Steps } from './slices.ts';
export { taskCompletion, taskStatus, tickedTasks, withTicks } from './tasks.ts';
