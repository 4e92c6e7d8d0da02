;;; lsp_emacs.el --- drives a real Emacs: an unsaved change, an action, and the answer to its question  -*- lexical-binding: t; -*-

;; Environment: HERMES_ACP (the command), CLIENTS (folder of hermes-lsp.el), REPORT (file for the results).

(add-to-list 'load-path (getenv "CLIENTS"))
(require 'hermes-lsp)
(setq hermes-lsp-command (list (getenv "HERMES_ACP") "lsp")
      eglot-sync-connect 30
      make-backup-files nil
      last-nonmenu-event ?x) ; so that menus are read from the keyboard

(defvar seen-questions nil)
(defun completing-read (prompt choices &rest _)
  "Take Apply, or the action to refactor, and note PROMPT and CHOICES."
  (let ((titles (mapcar (lambda (each) (if (consp each) (car each) each)) choices)))
    (push (list prompt titles) seen-questions)
    (or (seq-find (lambda (title) (member title '("Apply" "Hermes: Refactor"))) titles) (car titles))))

(defun wait-for (test)
  "Wait until TEST holds."
  (let ((tries 3000))
    (while (and (> tries 0) (not (funcall test)))
      (setq tries (1- tries))
      (accept-process-output nil 0.01))))

(find-file "shape.py")
(fundamental-mode)
(hermes-lsp)
(goto-char (point-min))
(insert "# not saved\n")
(let ((first (point)))
  (goto-char (point-max))
  (push-mark first t t)
  (setq transient-mark-mode t)
  (eglot--signal-textDocument/didChange)
  (eglot-code-actions first (point-max) nil t))
(wait-for (lambda () (string-match-p "return w \\* h" (buffer-string))))
(with-temp-file (getenv "REPORT")
  (insert (prin1-to-string (list (with-current-buffer "shape.py" (buffer-string)) seen-questions))))
(set-buffer-modified-p nil)
(kill-emacs 0)
