/** Marks of open errors at lines of files and changes (docs/reference/work_pages.md#errors). */
import { pageBelow } from '../../../access/index.ts';
import { type Content, html, icon, type PageCall } from '../../../pages/index.ts';
import { counted } from '../../../texts/index.ts';
import { type ErrorPlace, openErrorPlaces } from '../../work/error_tracking/index.ts';
import { sectionCounts } from '../house/count_queries.ts';
import { isPlaceIn, lineFinder, type ShownLine } from './mark_rules.ts';

/** The marks of a file. */
export interface ErrorMarks {
  /** The mark of a line, if it has one. */
  at(line: number): Content;
  /** How many errors are marked. */
  head: Content;
}

/** Makes the marks of a file from its lines as they are shown. */
export type ErrorMarker = (path: string, lines: () => readonly ShownLine[]) => ErrorMarks | undefined;

function marksFor(places: readonly ErrorPlace[], project: string, lines: readonly ShownLine[]): ErrorMarks | undefined {
  const byLine = new Map<number, ErrorPlace[]>();
  const marked = new Set<number>();
  const lineOf = lineFinder(lines);
  for (const place of places) {
    const line = lineOf(place);
    if (line === undefined) continue;
    const there = byLine.get(line) ?? [];
    if (!there.some(({ error_id }) => error_id === place.error_id)) byLine.set(line, [...there, place]);
    marked.add(place.error_id);
  }
  if (marked.size === 0) return undefined;
  const mark = ({ error_id, name, description }: ErrorPlace): Content => {
    const title = `Open error: ${name}${description === '' ? '' : `: ${description}`}`.slice(0, 200);
    return html` <a class="mark" href="${pageBelow.project(project, `error_tracking/${error_id}/details`)}" title="${title}" aria-label="${title}">${icon('bug')}</a>`;
  };
  return {
    at: (line) => byLine.get(line)?.map(mark),
    head: html`<span class="state bad">${icon('bug')}${counted(marked.size, 'open error')}</span>`,
  };
}

/**
 * Marks of the open errors of a project; undefined for those who may not read its errors, and where there are none.
 * @param project its number and its full path
 */
export async function errorMarker(
  { may, services: { db } }: Pick<PageCall, 'may' | 'services'>,
  project: { id: number; full_path: string },
): Promise<ErrorMarker | undefined> {
  const counts = await sectionCounts(db, project.full_path);
  if (!counts?.errors || !(await may('listErrors'))) return undefined;
  const places = await openErrorPlaces(db, project.id);
  return (path, lines) => {
    const here = places.filter((place) => isPlaceIn(place, path));
    return here.length === 0 ? undefined : marksFor(here, project.full_path, lines());
  };
}
