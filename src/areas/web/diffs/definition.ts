/** What the diffs of a page are made of. */
import type { Static } from 'typebox';
import type { Page as ListPage } from '../../../http/index.ts';
import type { Content } from '../../../pages/index.ts';
import type { Diff } from '../../code/repository/index.ts';
import type { DiffLine } from './hunk_rules.ts';

export type FileDiff = Static<typeof Diff>;

/** The source of the diffs of a page. */
export interface DiffSource {
  /**
   * A page of the files with their diffs.
   * @param paging at most 100 files per page
   */
  page(paging: { page: number; per_page: number }): Promise<ListPage<FileDiff>>;
  /** The address of a file before or after the changes; undefined if no page shows it. */
  fileAt(side: 'old' | 'new', path: string): string | undefined;
  /** Reads a file after the changes, so that more of its lines can be shown; undefined if it is no text, or large. */
  textOf?(path: string): Promise<string | undefined>;
  /** Whose turn it is to have programs shown in colours: a project or a reader. Without one they have none. */
  owner?: number;
  /**
   * The address of the form for a comment on a line.
   * @param number the position of its file among all files, from 1
   */
  commentAt?(number: number, line: DiffLine): string;
  /** Whether the reader has viewed a file; undefined where that is not asked. */
  viewed?(file: FileDiff, number: number): Viewed | undefined;
  /** The marks at the lines of a file after the changes. @param lines that are shown */
  marks?(path: string, lines: () => readonly { number: number; text: string }[]): FileMarks | undefined;
  /** Where JavaScript is on, a form in a file replaces the file, and these parts of the page. */
  parts?: readonly string[];
  /** The comments on the changes of a file. */
  said?(file: FileDiff, number: number): Said;
}

/** Marks at the lines of a file, such as open errors. */
export interface FileMarks {
  at(line: number): Content;
  /** What is said of them at the head of the file. */
  head: Content;
}

/** A mark of the reader on a file. */
export interface Viewed {
  is_viewed: boolean;
  /** The form that changes it. */
  form(): Content;
}

/** The comments on the changes of a file. */
export interface Said {
  /** The content below a line. */
  at(line: DiffLine): Content;
  /** The content after the file: comments that belong to no displayed line. */
  rest(): Content;
}
