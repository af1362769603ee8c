/** Where the commits of a history stand in a picture of it: each in a row, and lines of descent in lanes. */

/** A commit as it is drawn. */
export interface Placed {
  lane: number;
  /** To each parent: its row and lane, or the end of the picture if it is not in it. */
  lines: { row: number; lane: number; via: number }[];
}

interface Node {
  id: string;
  parent_ids: readonly string[];
}

/** The first lane that is free. */
function freeLane(lanes: (string | undefined)[]): number {
  const found = lanes.indexOf(undefined);
  return found < 0 ? lanes.length : found;
}

/**
 * Gives commits their lanes. The first parent continues the lane of a commit, and other parents begin lanes.
 * @param commits children before their parents
 * @param most the number of lanes; further ones share the last
 */
export function lanesOf(commits: readonly Node[], most: number): { placed: Placed[]; lanes: number } {
  const rows = new Map(commits.map(({ id }, row) => [id, row]));
  /** The commit that each lane leads to. */
  const lanes: (string | undefined)[] = [];
  const laneFor = (id: string): number => {
    const known = lanes.indexOf(id);
    if (known >= 0) return known;
    const lane = Math.min(freeLane(lanes), most - 1);
    lanes[lane] = id;
    return lane;
  };
  let widest = 1;
  const found = commits.map(({ id, parent_ids }) => {
    const lane = laneFor(id);
    for (const [index, other] of lanes.entries()) if (other === id) lanes[index] = undefined;
    const [first, ...others] = parent_ids;
    // Several lanes may lead to one commit, which then stands in the leftmost of them.
    if (first !== undefined) lanes[lane] = first;
    const vias = first === undefined ? [] : [lane, ...others.map(laneFor)];
    widest = Math.max(widest, lane + 1, ...vias.map((via) => via + 1));
    return { lane, parent_ids, vias };
  });
  const placed = found.map(({ lane, parent_ids, vias }) => ({
    lane,
    lines: parent_ids.map((parent, index) => {
      const row = rows.get(parent);
      return row === undefined
        ? { row: commits.length, lane: vias[index]!, via: vias[index]! }
        : { row, lane: found[row]!.lane, via: vias[index]! };
    }),
  }));
  return { placed, lanes: widest };
}
