/** The interface of labels to other districts. */
export { labelsFor } from './actions.ts';
export { type LabelsAsked, labelsAfter } from './bearer_actions.ts';
export { colorFrom, colorReasons, textColorOn } from './color_rules.ts';
export { HookLabel, type HookLabelRow, hookLabelRows, presentHookLabel } from './hook_present.ts';
export { GroupLabel, LabelDetails, type LabelRow, labelDetails, ProjectLabel, presentLabelsOf } from './present.ts';
export { borneLabels, type LabelParent, labelsById, labelsOf, labelsTitled } from './queries.ts';
export { borneLabel, formerLabel, groupLabels, projectLabels } from './relation.ts';
export { withoutRivals } from './rules.ts';
