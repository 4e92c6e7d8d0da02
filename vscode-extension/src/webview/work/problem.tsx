/** An error, or a missing prerequisite, above a page. */
export function Problem({ text, note = "" }: { text: string; note?: string }) {
  return (
    <>
      {text && (
        <p class="refusal" role="alert">
          {text}
        </p>
      )}
      {note && <p class="work-note">{note}</p>}
    </>
  );
}
