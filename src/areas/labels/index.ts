/** What other areas may use of labels. */
export { labelsFor } from './actions.ts';
export { type LabelsAsked, labelsAfter } from './bearing.ts';
export { colorFrom, colorReasons, textColorOn } from './colors.ts';
export { LabelDetails, type LabelRow, presentLabelDetails } from './present.ts';
export { type LabelPlace, labelsByEpic, labelsById, labelsByIssue, labelsTitled } from './queries.ts';
export { withoutRivals } from './rules.ts';
