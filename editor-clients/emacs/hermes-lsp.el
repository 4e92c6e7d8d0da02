;;; hermes-lsp.el --- hermes-acp as a language server in eglot  -*- lexical-binding: t; -*-

;; `M-x hermes-lsp' in a file of a project; then `M-x eglot-code-actions' or the commands below.
;; Eglot runs one server per buffer, so this one replaces any other.

(require 'eglot)

(defgroup hermes-lsp nil "The coding agent hermes-acp in eglot." :group 'eglot)

(defcustom hermes-lsp-command '("hermes-acp" "lsp")
  "The command that starts the server."
  :type '(repeat string))

(defcustom hermes-lsp-settings nil
  "What is sent as `initializationOptions', a property list such as (:model \"NAME\")."
  :type 'sexp)

(defclass hermes-lsp-server (eglot-lsp-server) ()
  :documentation "A running `hermes-acp lsp'.")

(cl-defmethod eglot-initialization-options ((_server hermes-lsp-server))
  "Send the user's settings."
  (or hermes-lsp-settings (make-hash-table)))

(defun hermes-lsp--execute (server command arguments)
  "Have SERVER carry out COMMAND with ARGUMENTS; a turn may take longer than eglot waits for an answer."
  (jsonrpc-async-request
   server :workspace/executeCommand (list :command command :arguments arguments)
   :timeout 86400
   :success-fn #'hermes-lsp--show
   :error-fn (lambda (failure) (message "Hermes: %s" (plist-get failure :message)))
   :timeout-fn (lambda () (message "Hermes did not answer."))))

(defun hermes-lsp--show (result)
  "Open the document that RESULT names, if there is one."
  (let ((uri (plist-get result :document)))
    (if uri
        (display-buffer (find-file-noselect (url-unhex-string (string-remove-prefix "file://" uri))))
      (message "Hermes: %s" (plist-get result :status)))))

(cl-defmethod eglot-execute-command ((server hermes-lsp-server) command arguments)
  "Do not wait for COMMAND."
  (hermes-lsp--execute server (format "%s" command) arguments))

(when (fboundp 'eglot-execute) ; eglot 1.15 and newer
  (cl-defmethod eglot-execute ((server hermes-lsp-server) action)
    "Do not wait for the command of ACTION."
    (let ((command (if (stringp (plist-get action :command)) action (plist-get action :command))))
      (hermes-lsp--execute server (plist-get command :command) (plist-get command :arguments)))))

(cl-defmethod eglot-handle-request :around
  ((_server hermes-lsp-server) (_method (eql workspace/applyEdit)) &rest _params)
  "Apply without a further question: the server has asked already."
  (let ((eglot-confirm-server-initiated-edits nil))
    (cl-call-next-method)))

(defun hermes-lsp-do (action instruction)
  "Have ACTION done with the region, as INSTRUCTION says."
  (interactive
   (list (completing-read "Hermes: " '("explain" "fix" "refactor" "write_tests" "continue_writing") nil t)
         (read-string "In particular (may be empty): ")))
  (let ((server (eglot-current-server))
        (first (if (use-region-p) (region-beginning) (point)))
        (last (if (use-region-p) (region-end) (point))))
    (unless (cl-typep server 'hermes-lsp-server)
      (user-error "Start it here first with M-x hermes-lsp"))
    (eglot--signal-textDocument/didChange)
    (hermes-lsp--execute
     server (concat "hermes." action)
     (vector (list :uri (plist-get (eglot--TextDocumentIdentifier) :uri)
                   :range (list :start (eglot--pos-to-lsp-position first)
                                :end (eglot--pos-to-lsp-position last))
                   :instruction instruction)))))

;;;###autoload
(defun hermes-lsp ()
  "Start hermes-acp for the project of this buffer."
  (interactive)
  (let ((eglot-server-programs `((,major-mode . (hermes-lsp-server . ,hermes-lsp-command)))))
    (call-interactively #'eglot)))

(provide 'hermes-lsp)
;;; hermes-lsp.el ends here
